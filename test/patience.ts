/** How long `vi.waitFor` and `vi.waitUntil` wait, as `expect.poll` by its config: vitest gives them a second, which a busy machine has not. */
import { vi } from 'vitest'

const timeout = 60_000

const { waitFor, waitUntil } = vi
Object.assign(vi, {
  waitFor: ((callback, options) => waitFor(callback, { timeout, ...bounds(options) })) as typeof waitFor,
  waitUntil: ((callback, options) => waitUntil(callback, { timeout, ...bounds(options) })) as typeof waitUntil,
})

function bounds(options: Parameters<typeof waitFor>[1]) {
  return typeof options === 'number' ? { timeout: options } : options
}
