"""What imports are resolved in: the files and the manifests of one moment."""

from __future__ import annotations

from dataclasses import dataclass

from vera_ccc_tools.context.filetree import Files
from vera_ccc_tools.context.manifests import Project


@dataclass(frozen=True, slots=True)
class Scope:
    """The files of a project and what its manifests say."""

    files: Files
    project: Project
