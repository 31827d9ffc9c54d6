# src/codec/codec.mk
# CODEC_OBJS: the objects of this folder, relative to the top of the tree.
CODEC_OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/codec/*.c)))
