/** Answers to programs and browsers of this machine, over real connections. */
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { listenOnLoopback, readable } from '../../src/loopback/index.ts'

type Given = Parameters<typeof listenOnLoopback>

async function listening(answer: Given[0], options: Given[1] = {}) {
  const listener = await listenOnLoopback(answer, options)
  onTestFinished(() => listener.close())
  return listener
}

const echo: Given[0] = async ({ method, target, body }) => {
  const bytes = await body()
  return bytes ? { status: 200, text: `${method} ${target} ${bytes.toString('hex')}` } : { status: 413, text: 'long' }
}

/** Asks under another name of this machine, as a page does whose name leads here. */
async function askedAs(url: string, host: string) {
  const asked = request(url, { headers: { host } })
  asked.end()
  const [response] = await once(asked, 'response')
  response.resume()
  return response.statusCode as number
}

test('a request is answered with its method, its path with the query, and its body byte for byte', async () => {
  const { url } = await listening(echo, { mostBytes: 4 })
  const answer = await fetch(`${url}/a?b=c`, { method: 'PUT', body: Uint8Array.of(0, 255, 10) })
  expect([answer.status, await answer.text()]).toEqual([200, 'PUT /a?b=c 00ff0a'])
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
})

test('a body that is longer than is taken is answered, whether its length is said or not', async () => {
  const { url } = await listening(echo, { mostBytes: 4 })
  expect((await fetch(url, { method: 'POST', body: new Uint8Array(4) })).status).toBe(200)
  expect((await fetch(url, { method: 'POST', body: new Uint8Array(5) })).status).toBe(413)
  const asked = request(url, { method: 'POST' })
  asked.write('abc')
  asked.write('def')
  const [response] = await once(asked, 'response')
  asked.destroy()
  response.resume()
  expect(response.statusCode).toBe(413)
})

test('a page whose name leads here is told nothing, unless a proxy may pass its name on', async () => {
  const own = await listening(() => ({ status: 200 }))
  expect(await askedAs(own.url, 'evil.example')).toBe(421)
  expect(await askedAs(own.url, 'localhost.evil.example')).toBe(421)
  expect(await askedAs(own.url, `localhost:${own.port}`)).toBe(200)
  const any = await listening(() => ({ status: 200 }), { anyName: true })
  expect(await askedAs(any.url, 'hooks.acme.example')).toBe(200)
})

test('what is not there is 404, and an answer that throws is 500 without words', async () => {
  const { url } = await listening(({ target }) => {
    if (target === '/bad') throw new Error('secret')
    return undefined
  })
  expect((await fetch(url)).status).toBe(404)
  const bad = await fetch(`${url}/bad`)
  expect([bad.status, await bad.text()]).toEqual([500, ''])
})

test('pages to read are read, with any query, and by GET alone', async () => {
  const { url } = await listening(readable({ '/metrics': async () => ({ status: 200, text: 'up 1' }) }))
  expect(await (await fetch(`${url}/metrics?x`)).text()).toBe('up 1')
  expect((await fetch(`${url}/metrics`, { method: 'POST', body: 'x' })).status).toBe(405)
  expect((await fetch(`${url}/toString`)).status).toBe(404)
})

test('closed, it ends what is being answered, and no connection that asks nothing holds it up', async () => {
  const going = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const listener = await listenOnLoopback(async () => {
    asked.resolve()
    await going.promise
    return { status: 200, text: 'done' }
  })
  const idle = connect(listener.port, '127.0.0.1')
  idle.on('error', () => {})
  await once(idle, 'connect')
  const answer = fetch(listener.url)
  await asked.promise
  const since = performance.now()
  const closed = listener.close()
  going.resolve()
  expect(await (await answer).text()).toBe('done')
  await closed
  expect(performance.now() - since).toBeLessThan(900)
})
