#include "unit.h"
void test_bits(void){} void test_ints(void){} void test_hostile(void){} void test_golden(void){}
