import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import type { Server as HttpsServer } from 'node:https'
import { messageOf } from '../../diagnostics/index.ts'
import { readPrivate } from '../../local/index.ts'
import type { Logger } from '../../telemetry/index.ts'
import { ServiceError } from '../error.ts'

/** Where a server's certificate and key are, in PEM. */
export interface TlsFiles {
  /** The server's certificate, then those that it was signed by. */
  readonly certificate: string
  /** Its private key, readable by its owner alone. */
  readonly key: string
}

/** The certificate of servers, as its files have it now. */
export interface Tls {
  readonly context: SecureContext
  /** Has a server take each new certificate. */
  follow(server: HttpsServer): void
  /** Reads the files again. Where they do not go together, what was read before stays in use, and the log says so. */
  reload(): void
  close(): void
}

interface SecureContext {
  readonly cert: string
  readonly key: string
  readonly minVersion: 'TLSv1.2'
}

/** How often the files are looked at. A signal is quicker. */
const LOOK_MS = 2_000

/** Throws `service/tls-invalid` and `local/exposed` for files that no server can be run with. */
export function openTls(files: TlsFiles, logger: Logger): Tls {
  let context = readTls(files)
  const servers: HttpsServer[] = []
  const reload = () => {
    try {
      const next = readTls(files)
      if (next.cert === context.cert && next.key === context.key) return
      context = next
      for (const server of servers) server.setSecureContext(context)
      logger.info('a new certificate is in use', { file: files.certificate, until: endOf(context.cert) })
    } catch (error) {
      // Of two files that are replaced one after the other, the first comes alone.
      const reason = messageOf(error)
      logger.error('the certificate is not reloaded; the one before stays in use', { reason })
    }
  }
  const paths = [...new Set([files.certificate, files.key])]
  for (const path of paths) watchFile(path, { interval: LOOK_MS, persistent: false }, reload)
  return {
    get context() {
      return context
    },
    follow: (server) => void servers.push(server),
    reload,
    close() {
      for (const path of paths) unwatchFile(path, reload)
    },
  }
}

function readTls({ certificate, key }: TlsFiles): SecureContext {
  const [cert, secret] = [readText(certificate), readPrivate(key)]
  if (cert === undefined) throw invalid(certificate, 'is not there')
  if (secret === undefined) throw invalid(key, 'is not there')
  const parsed = tryTo(() => new X509Certificate(cert))
  if (!parsed) throw invalid(certificate, 'is no certificate in PEM')
  const privateKey = tryTo(() => createPrivateKey(secret))
  if (!privateKey) throw invalid(key, 'is no private key in PEM without a passphrase')
  if (!parsed.checkPrivateKey(privateKey)) throw invalid(key, `is not the key of the certificate in \`${certificate}\``)
  return { cert, key: secret, minVersion: 'TLSv1.2' }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function endOf(cert: string): string {
  return new X509Certificate(cert).validToDate.toISOString()
}

function tryTo<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

function invalid(path: string, how: string): ServiceError {
  return new ServiceError('service/tls-invalid', `the file \`${path}\` ${how}`, {
    facts: { path },
    next: 'name a certificate with --tls-cert and its key with --tls-key, both in PEM',
  })
}
