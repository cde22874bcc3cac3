import { pino } from 'pino'
import { printableJson, QuorateError } from '../diagnostics/index.ts'
import { createLogSink, type Logger, type LogSink, type LogTarget } from '../telemetry/index.ts'

/** The log of a process that runs unattended. */
export interface Log {
  readonly logger: Logger
  readonly sink: LogSink
}

/**
 * A logger of JSON lines on stderr or in a file, for what runs unattended: stdout is for what a command was asked for.
 * Fields named like secrets are cut whatever put them there,
 * and what is not printable is written as JSON's own escapes. Throws `cli/usage` for a file that cannot be written.
 */
export function createLog(target: LogTarget = 2): Log {
  const sink = openSink(target)
  const log = pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: {
        paths: ['privateKey', '*.privateKey', 'apiPrivateKey', '*.apiPrivateKey', 'mnemonic', '*.mnemonic'],
        censor: '[secret]',
      },
    },
    { write: (text) => sink.write(printableJson(text)) },
  )
  const logger: Logger = {
    debug: (message, fields) => log.debug(fields ?? {}, message),
    info: (message, fields) => log.info(fields ?? {}, message),
    warn: (message, fields) => log.warn(fields ?? {}, message),
    error: (message, fields) => log.error(fields ?? {}, message),
  }
  return { logger, sink }
}

function openSink(target: LogTarget): LogSink {
  try {
    return createLogSink(target, { tellLost })
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new QuorateError('cli/usage', `expected --log-file to be a file that can be written, got \`${target}\``, {
      facts: { reason },
      next: 'name a file in a folder that exists and that you may write to',
      cause: error,
    })
  }
}

/** As pino writes a line of level `warn`. */
function tellLost(count: number): string {
  const line = {
    level: 40,
    time: new Date().toISOString(),
    count,
    msg: 'log lines were lost: they could not be written',
  }
  return `${JSON.stringify(line)}\n`
}
