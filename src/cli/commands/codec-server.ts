import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { loadCodecToken, loadPayloadSeal, startCodecServer } from '../../worker/index.ts'
import type { CommandInput } from '../command.ts'
import { writeJsonLine } from '../io.ts'
import { readPort } from '../ports.ts'
import { line } from '../screen.ts'

/** Opens payloads for Temporal's UI and CLI until SIGINT or SIGTERM. */
export async function codecServer({ io, json, options, settings }: CommandInput): Promise<ExitCode> {
  const port = readPort(options['port'], '--port') ?? 0
  const origins = ((options['origin'] as readonly string[] | undefined) ?? []).map(readOrigin)
  const file = options['tokenFile'] as string | undefined
  const token = await loadCodecToken(settings.dataDir, file)
  const seal = await loadPayloadSeal(settings.dataDir, settings.payloadKey)
  const stopped = Promise.withResolvers<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.resolve())
  const server = await startCodecServer({ seal, token, origins, port })
  const { url } = server
  if (json) writeJsonLine(io, { ready: true, url, origins, keyId: seal.keyId })
  else {
    const where = file ?? `${settings.dataDir}/codec.token`
    io.say(line`Opening payloads at ${url} for who has the token in ${where}. Ctrl-C ends it.\n`)
  }
  await stopped.promise
  await server.close()
  return EXIT.done
}

function readOrigin(text: string): string {
  const url = URL.parse(text)
  if (url && (url.protocol === 'http:' || url.protocol === 'https:') && url.pathname === '/') return url.origin
  throw new QuorateError('cli/usage', `expected --origin to be where a page is from, got \`${text}\``, {
    next: 'give scheme, host and port, such as http://localhost:8233',
  })
}
