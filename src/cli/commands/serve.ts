import { join, resolve } from 'node:path'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { createService } from '../../service/index.ts'
import type { CommandInput } from '../command.ts'
import { createLogger } from '../logger.ts'

/** Runs the service until SIGINT or SIGTERM. With `--json` one ready line goes out, without the private key. */
export async function serve({ settings, io, options, json }: CommandInput): Promise<ExitCode> {
  const stopped = Promise.withResolvers<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.resolve())
  const dataDir = resolve((options['folder'] as string | undefined) ?? join(settings.dataDir, 'service'))
  const service = await createService({
    dataDir,
    port: readPort(options['port']),
    ...(json ? {} : { logger: createLogger() }),
    ...(options['rootUser'] ? { rootUserName: String(options['rootUser']) } : {}),
    ...(options['organizationName'] ? { organizationName: String(options['organizationName']) } : {}),
  })
  const { apiPrivateKey: _, ...ready } = service.bootstrap
  if (json) io.out(`${JSON.stringify({ ready: true, pid: process.pid, folder: dataDir, ...ready })}\n`)
  else {
    io.say(
      `The service answers at ${service.url}, organization ${ready.organizationId}.\n` +
        `Its root key is in ${join(dataDir, 'bootstrap.json')}, readable by you alone. Ctrl-C stops it.\n`,
    )
  }
  await stopped.promise
  await service.close()
  return EXIT.done
}

function readPort(text: unknown): number {
  if (text === undefined) return 0
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port
  throw new QuorateError('cli/usage', `expected --port to be a number from 0 to 65535, got \`${text}\``, {
    next: 'correct --port',
  })
}
