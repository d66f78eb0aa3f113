"""The four tools of the Pi extension and what they share."""
