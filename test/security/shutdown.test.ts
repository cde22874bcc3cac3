/** A service that is told to end does so in the time that it was given, whatever its connections do. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ServiceOptions } from '../../src/service/index.ts'
import { createApiKeyStamper } from '../../src/stamp/index.ts'
import { Secret } from '../../src/telemetry/index.ts'
import { builtMain } from '../built.ts'
import { testFolder } from '../cli/harness.ts'
import { startTestService, type TestService } from '../service/harness.ts'
import { isApiRefusal, open, type RawConnection, readAnswers } from './raw.ts'

const WHOAMI = '/public/v1/query/whoami'

async function start(options: Partial<ServiceOptions>): Promise<TestService> {
  const service = await startTestService(options)
  onTestFinished(() => service.close())
  return service
}

async function connectTo(url: string, text = ''): Promise<RawConnection> {
  const connection = await open(url)
  onTestFinished(() => void connection.socket.destroy())
  connection.write(text)
  return connection
}

/** A submit that waits for a name to be looked up. */
async function slowSubmit(service: TestService): Promise<string> {
  const { path, text } = service.body('ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT', { url: 'https://slow.test/', name: 'w' })
  const { name, value } = await createApiKeyStamper({ privateKey: new Secret(service.root.privateKey) }).stamp(
    Buffer.from(text),
  )
  return `POST ${path} HTTP/1.1\r\nHost: x\r\n${name}: ${value}\r\nContent-Length: ${text.length}\r\n\r\n${text}`
}

/** A resolver that tells when it is asked and answers when it is told to. */
function slowNames() {
  const asked = Promise.withResolvers<void>()
  const found = Promise.withResolvers<readonly string[]>()
  return {
    asked: asked.promise,
    answer: () => found.resolve(['1.1.1.1']),
    resolveHost: () => {
      asked.resolve()
      return found.promise
    },
  }
}

const HALF = `POST ${WHOAMI} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{`

test('shutdown: what says nothing is ended, what was half sent is refused, what is worked on is answered', async () => {
  const names = slowNames()
  const service = await start({ resolveHost: names.resolveHost })
  const silent = await Promise.all(Array.from({ length: 5 }, () => connectTo(service.url)))
  const headless = await connectTo(service.url, `POST ${WHOAMI} HTTP/1.1\r\nHost:`)
  const kept = await connectTo(service.url, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
  await kept.answers(1)
  const half = await connectTo(service.url, HALF)
  const working = await connectTo(service.url, await slowSubmit(service))
  await names.asked
  const closed = service.service.close()
  const [refused] = readAnswers(await half.ended)
  expect([refused!.status, refused!.headers['connection'], isApiRefusal(refused!)]).toEqual([503, 'close', true])
  for (const connection of [...silent, headless]) expect(await connection.ended).toBe('')
  await kept.ended
  names.answer()
  await closed
  expect(readAnswers(await working.ended)[0]!.status).toBe(200)
})

test('shutdown: what never ends is cut off when the time is over', async () => {
  const names = slowNames()
  const service = await start({ limits: { drainMs: 1_000 }, resolveHost: names.resolveHost })
  const working = await connectTo(service.url, await slowSubmit(service))
  const reader = await connectTo(service.url, 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(60))
  reader.socket.pause()
  await names.asked
  await service.service.close()
  expect(await working.ended).toBe('')
})

test('shutdown: SIGTERM ends the process although connections are silent, half sent and unread', async () => {
  const main = builtMain()
  const args = ['serve', '--json', '--folder', join(testFolder(), 'service'), '--drain-ms', '1000']
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exit = once(child, 'exit')
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const { baseUrl } = JSON.parse(String(line)) as { baseUrl: string }
  for (let i = 0; i < 10; i++) await connectTo(baseUrl)
  await connectTo(baseUrl, HALF)
  const unread = await connectTo(baseUrl, 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(60))
  unread.socket.pause()
  child.kill('SIGTERM')
  expect(await exit).toEqual([0, null])
})
