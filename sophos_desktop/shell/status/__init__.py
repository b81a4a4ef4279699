"""The bar at the lower edge of the window."""
