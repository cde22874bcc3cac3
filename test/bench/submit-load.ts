/** The process that loads a server for the bench of submits: over open connections, as fast as answers come. */
import { Agent, request } from 'node:http'
import { performance } from 'node:perf_hooks'
import type { Load } from './submit.ts'

process.on('message', async ({ url, path, connections, requests, headers: common = {} }: Load) => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const { hostname, port } = new URL(url)
  let next = 0
  let refused = 0
  const times: number[] = []
  const begun = performance.now()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (let item = requests[next++]; item; item = requests[next++]) {
        const [body, stamp] = item
        const sentAt = performance.now()
        if ((await post(body, stamp)) !== 200) refused++
        times.push(performance.now() - sentAt)
      }
    }),
  )
  const ms = performance.now() - begun
  agent.destroy()
  process.send!({ ms, refused, times })

  function post(body: string, stamp: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = { ...common, ...(stamp && { 'x-stamp': stamp }), 'content-length': Buffer.byteLength(body) }
      const sent = request({ hostname, port, path, method: 'POST', agent, headers }, (answer) => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode ?? 0))
      })
      sent.on('error', reject)
      sent.end(body)
    })
  }
})
