"""Is the index as the disk is?"""
