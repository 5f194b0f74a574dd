"""Running networks: one session protocol, one adapter an engine."""
