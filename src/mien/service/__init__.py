"""mien as a service: what tenants ask for is kept in Redis, done by workers, and answered over HTTP."""
