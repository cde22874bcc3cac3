import { EXIT, type ExitCode, QuorateError } from '../../diagnostics/index.ts'
import { askOperator, type FaultStatus, type NewFault, type OperatorState } from '../../service/operator/index.ts'
import type { CommandInput } from '../command.ts'
import { writeJson } from '../io.ts'
import { serviceFolder } from '../service-folder.ts'
import { renderFault } from '../views/operator.ts'

/** Asks the service of the data folder to let requests fail. */
export async function addFault(input: CommandInput): Promise<ExitCode> {
  return show(input, await askOperator(serviceFolder(input), { kind: 'add-fault', fault: readFault(input.options) }))
}

/** Lists the faults in force. */
export async function listFaults(input: CommandInput): Promise<ExitCode> {
  return show(input, await askOperator(serviceFolder(input), { kind: 'state' }))
}

/** Ends one fault, or all of them. */
export async function clearFaults(input: CommandInput): Promise<ExitCode> {
  const id = input.args[0] === undefined ? {} : { id: readNumber('the id', input.args[0]) }
  return show(input, await askOperator(serviceFolder(input), { kind: 'clear-faults', ...id }))
}

function readFault(options: CommandInput['options']): NewFault {
  const number = (name: string, flag: string) =>
    options[name] === undefined ? undefined : readNumber(flag, String(options[name]))
  const [times, status] = [number('times', '--times'), number('status', '--status')]
  const [retryAfter, delay] = [number('retryAfter', '--retry-after'), number('delay', '--delay')]
  const { path, webhook } = options
  if (path !== undefined && webhook !== undefined) {
    throw new QuorateError('cli/usage', 'a fault meets requests or webhooks, not both', {
      next: 'give --path or --webhook; nothing was changed',
    })
  }
  const meets = webhook === undefined ? { path: String(path ?? '*') } : { webhook: String(webhook) }
  return {
    ...meets,
    ...(times === undefined ? {} : { times }),
    ...(delay === undefined ? {} : { delayMs: Math.round(delay * 1000) }),
    ...(status === undefined ? {} : { status: status as FaultStatus }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(options['drop'] ? { drop: true } : {}),
    ...(options['lose'] ? { lose: true } : {}),
    ...(options['twice'] ? { twice: true } : {}),
  }
}

function readNumber(what: string, text: string): number {
  const number = Number(text)
  if (text.trim() !== '' && Number.isFinite(number)) return number
  throw new QuorateError('cli/usage', `expected ${what} to be a number, got \`${text}\``, {
    next: 'correct it; nothing was changed',
  })
}

function show({ io, json }: CommandInput, { faults }: OperatorState): ExitCode {
  if (json) writeJson(io, { faults })
  else io.out(faults.length === 0 ? 'No faults are in force.\n' : faults.map(renderFault).join(''))
  return EXIT.done
}
