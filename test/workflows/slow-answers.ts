/** Stands before the service and holds back each answer to a submit, as a slow network would. Counts the submits. */
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

export interface SlowAnswers {
  readonly url: string
  submits(): number
  close(): Promise<void>
}

export async function startSlowAnswers(target: string, afterMs: number): Promise<SlowAnswers> {
  let submits = 0
  const server = createServer((incoming, outgoing) => {
    const isSubmit = incoming.url?.includes('/submit/') ?? false
    if (isSubmit) submits++
    const forwarded = request(`${target}${incoming.url}`, { method: incoming.method, headers: incoming.headers })
    forwarded.on('response', async (answer) => {
      if (isSubmit) await delay(afterMs)
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    submits: () => submits,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
