// Computes for ever before it answers.
#include "upload.h"

int main(void) {
  for (volatile unsigned turns = 0;; turns++) {
  }
}
