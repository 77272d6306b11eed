"""Pages of webhook endpoints and of the deliveries to them."""
