/** What is said where a payload cannot be opened: which key is missing, where, and what to do. */
import { QuorateError } from '../diagnostics/index.ts'
import { WorkerError } from './error.ts'
import type { PayloadSeal } from './payload-seal.ts'

const SETTINGS =
  '--payload-key-file (QUORATE_PAYLOAD_KEY_FILE), --payload-key-command (QUORATE_PAYLOAD_KEY_COMMAND) or QUORATE_PAYLOAD_KEY'

const adviceFor = (who: string) =>
  `give ${who} that key as well, as a line of its own below the first of what ${SETTINGS} gives, or of payload.key in the data folder (docs/trust.md#the-key-of-the-payloads). ` +
  'Where it is lost, end the workflow at Temporal and run its command again, with one key everywhere: what was submitted is found, and nothing is submitted twice'

type Has = Pick<PayloadSeal, 'keyId' | 'keyIds' | 'where'>

/** The key is none of this process's. */
export function keyMissing(what: string, keyId: string, here?: Has): WorkerError {
  const has = here ? { 'payload keys here': here.keyIds.join(', '), from: here.where } : {}
  return new WorkerError(
    'worker/payload-refused',
    `${what} was sealed with the payload key ${keyId}, which is not known here`,
    {
      facts: { missing: keyId, ...has, submitted: 'nothing by this command' },
      next: adviceFor('this command or worker'),
    },
  )
}

/** A worker does not know the key, though this process does. */
export function keyMissingThere(workflowId: string, startKeyId: string, { keyId, where }: Has): WorkerError {
  const key = startKeyId === keyId ? keyId : `${keyId} or ${startKeyId}`
  return new WorkerError(
    'worker/payload-refused',
    `the worker that answers for \`${workflowId}\` does not know the payload key ${key}`,
    {
      facts: {
        'sealed with': startKeyId,
        'this command seals with': keyId,
        from: where,
        submitted: 'nothing by this command',
      },
      next: `${adviceFor('the worker')}. Start it again then; Temporal asks it within some minutes`,
    },
  )
}

/** Nobody with a key made it, or it was made for another place. */
export function payloadRefused(message: string): WorkerError {
  return new WorkerError('worker/payload-refused', message, { facts: { submitted: 'nothing by this command' } })
}

export function isPayloadRefused(error: unknown): error is QuorateError {
  return error instanceof QuorateError && error.code === 'worker/payload-refused'
}
