/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ask for a number before it is needed.
 */
#ifndef SKLEARN_LATENT_FETCH_H
#define SKLEARN_LATENT_FETCH_H

#if defined(__GNUC__)
#define sl_fetch(address) __builtin_prefetch((address), 1, 3)
#else
#define sl_fetch(address) ((void)0)
#endif

#endif
