// Lists its tools and exits with 3.
#include "upload.h"

int main(void) {
  upload(NULL, NULL);
  return 3;
}
