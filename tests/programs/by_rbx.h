/* SPDX-License-Identifier: MIT */
/*
 * by_rbx.h - a call through a frame that is found by another register than stack and frame pointer.
 *
 * The tracer's own rows can't express it, so it has to ask libunwind. On other machines than
 * x86-64 an ordinary frame. For one source file of a program.
 */
#ifndef BY_RBX_H
#define BY_RBX_H

__attribute__((noinline, visibility("default"))) void by_rbx(void (*function)(int), int n);

#ifdef __x86_64__
__asm__(".pushsection .text\n"
	".globl by_rbx\n"
	".type by_rbx, @function\n"
	"by_rbx:\n"
	".cfi_startproc\n"
	"pushq %rbx\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbx, -16\n"
	"movq %rsp, %rbx\n"
	".cfi_def_cfa_register %rbx\n"
	"subq $64, %rsp\n"
	"andq $-64, %rsp\n"
	"movq %rdi, %rax\n"
	"movl %esi, %edi\n"
	"callq *%rax\n"
	"movq %rbx, %rsp\n"
	".cfi_def_cfa_register %rsp\n"
	"popq %rbx\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size by_rbx, .-by_rbx\n"
	".popsection\n");
#else
void by_rbx(void (*function)(int), int n)
{
	function(n);
	__asm__ volatile(""); /* no tail call */
}
#endif
#endif
