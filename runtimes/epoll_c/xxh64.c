#include "buffer.h"

#include <string.h>

static const uint64_t P1 = 11400714785074694791u, P2 = 14029467366897019727u,
                      P3 = 1609587929392839161u, P4 = 9650029242287828579u,
                      P5 = 2870177450012600261u;

/* Little-endian, as every machine is that the lab runs on. */
static uint64_t word64(const unsigned char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint64_t word32(const unsigned char *at) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint64_t turned(uint64_t value, int bits) {
    return value << bits | value >> (64 - bits);
}

static uint64_t mixed(uint64_t lane, uint64_t word) {
    return turned(lane + word * P2, 31) * P1;
}

uint64_t xxh64(const void *data, size_t length, uint64_t seed) {
    const unsigned char *at = data, *end = at + length;
    uint64_t total = seed + P5;
    if (length >= 32) {
        uint64_t lanes[4] = {seed + P1 + P2, seed + P2, seed, seed - P1};
        for (; end - at >= 32; at += 32)
            for (int lane = 0; lane < 4; lane++)
                lanes[lane] = mixed(lanes[lane], word64(at + 8 * lane));
        total = turned(lanes[0], 1) + turned(lanes[1], 7) + turned(lanes[2], 12) +
                turned(lanes[3], 18);
        for (int lane = 0; lane < 4; lane++)
            total = (total ^ mixed(0, lanes[lane])) * P1 + P4;
    }
    total += length;
    for (; end - at >= 8; at += 8)
        total = turned(total ^ mixed(0, word64(at)), 27) * P1 + P4;
    if (end - at >= 4) {
        total = turned(total ^ word32(at) * P1, 23) * P2 + P3;
        at += 4;
    }
    for (; at < end; at++)
        total = turned(total ^ *at * P5, 11) * P1;
    total = (total ^ total >> 33) * P2;
    total = (total ^ total >> 29) * P3;
    return total ^ total >> 32;
}
