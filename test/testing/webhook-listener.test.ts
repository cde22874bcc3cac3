import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { listenForWebhooks } from '../../src/testing/webhook-listener.ts'

test('webhook listener: a sender that goes away in the middle ends its own request alone', async () => {
  const listener = await listenForWebhooks()
  try {
    const socket = connect(Number(new URL(listener.url).port), '127.0.0.1')
    socket.write('POST /webhooks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhal')
    await once(socket, 'connect')
    await new Promise((resolve) => socket.write('f', resolve))
    socket.destroy()
    await once(socket, 'close')
    expect((await fetch(listener.url, { method: 'POST', body: 'whole' })).status).toBe(200)
    expect(listener.deliveries().map(({ body }) => body)).toEqual(['whole'])
  } finally {
    await listener.close()
  }
})
