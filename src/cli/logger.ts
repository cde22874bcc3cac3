import { pino } from 'pino'
import type { Logger } from '../telemetry/index.ts'

/** A logger of JSON lines on stdout, for what runs unattended. Fields named like secrets are cut whatever put them there. */
export function createLogger(): Logger {
  const log = pino({
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: ['privateKey', '*.privateKey', 'apiPrivateKey', '*.apiPrivateKey', 'mnemonic', '*.mnemonic'],
      censor: '[secret]',
    },
  })
  return {
    debug: (message, fields) => log.debug(fields ?? {}, message),
    info: (message, fields) => log.info(fields ?? {}, message),
    warn: (message, fields) => log.warn(fields ?? {}, message),
    error: (message, fields) => log.error(fields ?? {}, message),
  }
}
