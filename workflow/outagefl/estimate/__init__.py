"""What a configuration will cost before it is run: work, time, memory and disk."""
