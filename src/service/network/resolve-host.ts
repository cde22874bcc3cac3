import { lookup } from 'node:dns/promises'
import type { ResolveHost } from './webhook-url.ts'

const TIMEOUT_MS = 5_000

/** Asks the machine's resolver, and gives up in time: it may wait for half a minute by itself. */
export const resolveHost: ResolveHost = async (host) => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error('no answer in time')), TIMEOUT_MS)
  try {
    const found = await Promise.race([lookup(host, { all: true }), late.promise])
    return found.map(({ address }) => address)
  } finally {
    clearTimeout(timer)
  }
}
