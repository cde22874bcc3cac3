/**
 * The process of a service for tests: answers its parent, and ends with its folder when told to or when the parent is gone.
 * Started by `start-quorate.ts` alone.
 */
import { enableCompileCache } from 'node:module'
import type { Answer, ServiceCall } from './model.ts'

// What is loaded here then costs a quarter from the second start on.
enableCompileCache()
const { toErrorJson } = await import('../diagnostics/index.ts')
const { createHost } = await import('./host.ts')

const host = createHost()

process.on('message', async ({ id, method, input }: ServiceCall) => {
  const answer = await host[method](input as never).then(
    (value: unknown): Answer => ({ id, value }),
    (error: unknown): Answer => ({ id, error: toErrorJson(error) }),
  )
  if (!process.connected) return
  process.send!(answer, () => {
    if (method === 'close') process.disconnect()
  })
})
// Also where the parent was killed. What does not end in time holds nothing up.
process.once('disconnect', async () => {
  await host.close()
  process.exit()
})
// Ctrl-C reaches all processes of a terminal: the parent decides when this one ends.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
process.once('SIGTERM', () => void host.close().then(() => process.exit()))
