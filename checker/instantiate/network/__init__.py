"""Links: messages in flight, losses, full queues, partitions, cuts."""
