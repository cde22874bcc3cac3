import { createConnection, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { TLSConfig } from '@temporalio/client'

/** What is found at an address when no connection to Temporal comes about there. */
export type Listener = 'none' | 'silent' | 'refuses' | 'speaks HTTP/2'

const PATIENCE_MS = 2_000
/** The client's preface with empty settings (RFC 9113 §3.4); who speaks HTTP/2 answers with its own settings. */
const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
])
const SETTINGS = 4

/** Looks who listens there: greets it as a client of gRPC would, and hears how it answers. */
export function listenAt(address: string, tls: TLSConfig | boolean | null | undefined): Promise<Listener> {
  const url = URL.canParse(`tcp://${address}`) ? new URL(`tcp://${address}`) : undefined
  if (!url) return Promise.resolve('none')
  const at = { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || 7233 }
  return new Promise((resolve) => {
    let reached = false
    const raw = createConnection(at, () => {
      reached = true
    })
    const answer = (listener: Listener) => {
      raw.destroy()
      resolve(listener)
    }
    const socket: Socket = tls ? connectTls({ socket: raw, ALPNProtocols: ['h2'], ...pairOf(tls, at.host) }) : raw
    socket.once(tls ? 'secureConnect' : 'connect', () => socket.write(PREFACE))
    socket.once('data', (heard: Buffer) => answer(heard[3] === SETTINGS ? 'speaks HTTP/2' : 'refuses'))
    for (const end of [raw, socket]) {
      for (const event of ['error', 'close']) end.on(event, () => answer(reached ? 'refuses' : 'none'))
    }
    setTimeout(() => answer(reached ? 'silent' : 'none'), PATIENCE_MS).unref()
  })
}

function pairOf(tls: TLSConfig | true, host: string) {
  const { serverNameOverride, serverRootCACertificate, clientCertPair } = tls === true ? ({} as TLSConfig) : tls
  const servername = serverNameOverride ?? host
  return {
    ...(isIP(servername) ? {} : { servername }),
    ...(serverRootCACertificate ? { ca: Buffer.from(serverRootCACertificate) } : {}),
    ...(clientCertPair ? { cert: Buffer.from(clientCertPair.crt), key: Buffer.from(clientCertPair.key) } : {}),
  }
}
