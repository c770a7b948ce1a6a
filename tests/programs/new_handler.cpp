/* SPDX-License-Identifier: MIT */
/*
 * new_handler - operator new that fails, with a handler that gives memory back.
 *
 * The first, impossible request calls the handler twice: it frees a reserve, then throws. All
 * other forms are used once and freed again; 3 blocks of 40 bytes stay, made by keep. Prints how
 * often the handler ran, whether the exception came, and what the form that can't throw gave.
 */
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

static int calls;
static void *reserve;
void *kept[3];

static void handler()
{
	calls++;
	if (!reserve)
		throw std::bad_alloc();
	free(reserve);
	reserve = nullptr;
}

__attribute__((noinline)) void keep(int i)
{
	kept[i] = operator new(40);
}

int main()
{
	volatile std::size_t huge = (std::size_t)1 << 60;
	bool caught = false;

	reserve = malloc(1000);
	std::set_new_handler(handler);
	try {
		kept[0] = operator new(huge);
	} catch (const std::bad_alloc &) {
		caught = true;
	}
	void *none = operator new(huge, std::nothrow);
	void *empty = operator new(0);
	void *aligned = operator new(100, std::align_val_t(64));
	int *list = new int[10];

	for (int i = 0; i < 3; i++)
		keep(i);
	delete[] list;
	operator delete(empty);
	operator delete(aligned, std::align_val_t(64));
	std::printf("%d %d %d\n", calls, caught, none != nullptr);
	return 0;
}
