/** Where Pi begins. The host maps its own packages to itself; nothing else imports them. */
// @ts-ignore - only the host has them
import * as agent from "@earendil-works/pi-coding-agent";
// @ts-ignore
import * as tui from "@earendil-works/pi-tui";
import { adapt } from "./adapter.js";

/** @param {any} pi the host's extension API */
export default function veraCccTools(pi) {
  // It runs for --help as well: no process is started here.
  adapt(pi, { tui, agent });
}
