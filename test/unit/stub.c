#include "unit.h"
void test_golden(void){}
