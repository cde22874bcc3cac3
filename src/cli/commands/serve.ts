import { join } from 'node:path'
import { namespaceOf } from '../../chain/index.ts'
import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { readPrivate } from '../../local/index.ts'
import {
  type ChainsSettings,
  createService,
  type DiskWatermark,
  type Service,
  type ServiceOptions,
} from '../../service/index.ts'
import { Secret } from '../../telemetry/index.ts'
import { readChains } from '../chains.ts'
import type { CommandInput } from '../command.ts'
import { readDatabase, renderDatabase } from '../database-options.ts'
import { writeJsonLine } from '../io.ts'
import { listOf, readBaseUrl, readIssuerOptions } from '../issuer-options.ts'
import { readLimits } from '../limits.ts'
import { readListening, reloadOnHangUp } from '../listening.ts'
import { createLog } from '../logger.ts'
import { readMessageOptions } from '../message-options.ts'
import { readPort } from '../ports.ts'
import { readProxyOptions } from '../proxy-options.ts'
import { readRates } from '../rates.ts'
import { line } from '../screen.ts'
import { listensToOperator, serviceFolder } from '../service-folder.ts'
import { renderInForce } from '../views/operator.ts'

/** Runs the service until SIGINT or SIGTERM. Its log goes to stderr or to `--log-file`, beside what it says on stdout. */
export async function serve(input: CommandInput): Promise<ExitCode> {
  const { io, options, json } = input
  const stopped = Promise.withResolvers<void>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.resolve())
  const dataDir = serviceFolder(input)
  const chains = readChains(options, input.environment)
  const messages = await readMessageOptions(input)
  const database = readDatabase(input)
  const log = createLog(options['logFile'] === undefined ? undefined : String(options['logFile']))
  const service = await createService({
    dataDir,
    database,
    keyKeeper: { environment: input.environment },
    ...readListening(input),
    port: readPort(options['port'], '--port') ?? 0,
    chains,
    rates: readRates(options['rate'], options['rateProfile']),
    limits: readLimits(options),
    keptDenialsADay: readKeptDenials(options['keepDenials']),
    metricsPort: readPort(options['metricsPort'], '--metrics-port'),
    messages,
    proxy: { port: readPort(options['proxyPort'], '--proxy-port'), ...readProxyOptions(input) },
    logLinesLost: log.sink.lost,
    diskWatermark: readWatermark(options['diskWatermark']),
    enrolmentSecret: readEnrolmentSecret(options['enrolmentSecretFile']),
    operator: listensToOperator(input.environment) || options['operator'] === true,
    trustedProxies: listOf(options['trustedProxy']),
    allowedWebhookHosts: listOf(options['allowWebhookHost']),
    webhookFilters: options['webhookFilters'] === true,
    rotateWebhookKey: options['rotateWebhookKey'] === true,
    ...readIssuerOptions(input),
    issuerUrl: options['issuerUrl'] === undefined ? undefined : readBaseUrl(options['issuerUrl'], '--issuer-url'),
    rotateIssuerKey: options['rotateIssuerKey'] === true,
    logger: log.logger,
    ...(options['rootUser'] ? { rootUserName: String(options['rootUser']) } : {}),
    ...(options['organizationName'] ? { organizationName: String(options['organizationName']) } : {}),
  })
  reloadOnHangUp(service)
  try {
    announce(service, { io, json, dataDir, chains, database })
    await stopped.promise
  } finally {
    await service.close()
    await log.sink.close()
    // What did not end in time, a chain's node that does not answer for one, holds nothing up.
    setTimeout(() => process.exit(), 200).unref()
  }
  return EXIT.done
}

/** Says that the service answers, and where; with `--json` one line of it, without the private key. */
function announce(
  service: Service,
  {
    io,
    json,
    dataDir,
    chains,
    database,
  }: Pick<CommandInput, 'io' | 'json'> & Pick<ServiceOptions, 'database'> & { dataDir: string; chains: ChainsSettings },
): void {
  const metrics = service.metricsUrl === undefined ? {} : { metricsUrl: service.metricsUrl }
  const { apiPrivateKey: _, ...ready } = service.bootstrap
  if (json) writeJsonLine(io, { ready: true, pid: process.pid, folder: dataDir, ...ready, ...metrics })
  else {
    const file = join(dataDir, 'bootstrap.json')
    io.say(
      line`The service answers at ${service.url}, organization ${ready.organizationId}.\n` +
        (service.bootstrap.apiPrivateKey
          ? line`Its root key is in ${file}, readable by you alone. Ctrl-C stops it.\n`
          : line`Its addresses are in ${file}; the root key is kept elsewhere. Ctrl-C stops it.\n`),
    )
    if (database) io.say(line`Its rows are in PostgreSQL: ${renderDatabase(database)}.\n`)
    if (ready.authProxyUrl) {
      io.say(line`Its authentication proxy is at ${ready.authProxyUrl}, configuration ${ready.authProxyConfigId}.\n`)
    }
    if (metrics.metricsUrl) io.say(line`Its metrics are at ${metrics.metricsUrl}, for this machine alone.\n`)
    const served = new Set<string | undefined>(Object.keys(chains).map(namespaceOf))
    for (const [namespace, address] of Object.entries(ready.relayers)) {
      if (served.has(namespace))
        io.say(line`Sponsored sends on ${namespace} are paid by ${address}: put funds there.\n`)
    }
  }
  if (service.operator) io.say(renderInForce(service.operator()))
}

/** What is shorter could be guessed by who may try for years. */
const SHORTEST_SECRET = 32

function readEnrolmentSecret(path: unknown): Secret | undefined {
  if (path === undefined) return undefined
  const text = readPrivate(String(path))?.trim()
  if (text !== undefined && text.length >= SHORTEST_SECRET) return new Secret(text)
  const fault = text === undefined ? 'is not there' : `has fewer than ${SHORTEST_SECRET} characters`
  throw new QuorateError('cli/usage', `the file of --enrolment-secret-file ${fault}: \`${path}\``, {
    next: `write a secret into it that nobody guesses: \`openssl rand -hex 32 > ${path}\`, readable by you alone`,
  })
}

function readKeptDenials(text: unknown): number | undefined {
  if (text === undefined || /^\d{1,6}$/.test(String(text))) return text === undefined ? undefined : Number(text)
  throw new QuorateError('cli/usage', `expected --keep-denials to be a whole number, got \`${text}\``, {
    next: 'correct --keep-denials',
  })
}

function readWatermark(text: unknown): DiskWatermark | undefined {
  if (text === undefined) return undefined
  const [, count, percent] = /^(\d{1,15})(%?)$/.exec(String(text)) ?? []
  if (count !== undefined && !percent) return { bytes: Number(count) }
  if (count !== undefined && Number(count) <= 100) return { percent: Number(count) }
  throw new QuorateError('cli/usage', `expected --disk-watermark to be bytes or a share such as 5%, got \`${text}\``, {
    next: 'correct --disk-watermark',
  })
}
