package main

import (
	"encoding/binary"
	"math/bits"
)

const (
	prime1 uint64 = 11400714785074694791
	prime2 uint64 = 14029467366897019727
	prime3 uint64 = 1609587929392839161
	prime4 uint64 = 9650029242287828579
	prime5 uint64 = 2870177450012600261
)

func mixed(lane, word uint64) uint64 {
	return bits.RotateLeft64(lane+word*prime2, 31) * prime1
}

// xxh64 is the hash of that name.
func xxh64(data []byte, seed uint64) uint64 {
	length := uint64(len(data))
	total := seed + prime5
	if length >= 32 {
		total, data = stripes(data, seed)
	}
	total += length
	for ; len(data) >= 8; data = data[8:] {
		total ^= mixed(0, binary.LittleEndian.Uint64(data))
		total = bits.RotateLeft64(total, 27)*prime1 + prime4
	}
	if len(data) >= 4 {
		total ^= uint64(binary.LittleEndian.Uint32(data)) * prime1
		total = bits.RotateLeft64(total, 23)*prime2 + prime3
		data = data[4:]
	}
	for _, last := range data {
		total ^= uint64(last) * prime5
		total = bits.RotateLeft64(total, 11) * prime1
	}
	total = (total ^ total>>33) * prime2
	total = (total ^ total>>29) * prime3
	return total ^ total>>32
}

// stripes takes 32 bytes at a time in four lanes; it gives their sum and what is left.
func stripes(data []byte, seed uint64) (uint64, []byte) {
	lanes := [4]uint64{seed + prime1, seed + prime2, seed, seed - prime1}
	lanes[0] += prime2
	for ; len(data) >= 32; data = data[32:] {
		for index := range lanes {
			word := binary.LittleEndian.Uint64(data[8*index:])
			lanes[index] = mixed(lanes[index], word)
		}
	}
	var total uint64
	for index, turn := range [4]int{1, 7, 12, 18} {
		total += bits.RotateLeft64(lanes[index], turn)
	}
	for _, lane := range lanes {
		total = (total^mixed(0, lane))*prime1 + prime4
	}
	return total, data
}
