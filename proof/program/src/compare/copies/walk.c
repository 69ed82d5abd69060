/* usage: walk FILE RECORD PASSES
 *
 * Sums the records of a file in the order of the cycle that the file holds: the first eight bytes of
 * a record are the number of the next one. The file is mapped, so that a run finds in the processor's
 * caches what the run before left of it there. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: walk FILE RECORD PASSES\n");
    return 2;
  }
  const size_t words = strtoul(argv[2], NULL, 10) / sizeof(uint64_t);
  const long passes = strtol(argv[3], NULL, 10);
  const int file = open(argv[1], O_RDONLY);
  struct stat about;
  if (file < 0 || fstat(file, &about) != 0 || words == 0) {
    perror(argv[1]);
    return 1;
  }
  const uint64_t *data = mmap(NULL, about.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
  if (data == MAP_FAILED) {
    perror("mmap");
    return 1;
  }
  const size_t records = about.st_size / (words * sizeof(uint64_t));
  uint64_t sum = 0;
  for (long pass = 0; pass < passes; pass++) {
    uint64_t at = 0;
    for (size_t n = 0; n < records; n++) {
      const uint64_t *record = data + at * words;
      for (size_t word = 1; word < words; word++) sum += record[word];
      at = record[0];
    }
  }
  printf("%" PRIu64 "\n", sum);
  return 0;
}
