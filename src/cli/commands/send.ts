import { EXIT, type ExitCode } from '../../diagnostics/index.ts'
import type { CommandInput } from '../command.ts'
import { findPlace } from '../connect.ts'
import { carryOut } from '../sending/carry-out.ts'
import { makeOrder, type SendRequest } from '../sending/order.ts'
import { prepareSend, readNames } from '../sending/prepare.ts'
import { usage } from '../sending/usage.ts'

/** Sends one transaction under a reference and follows it to its end; a reference is sent once, however often it is asked. */
export async function send(input: CommandInput): Promise<ExitCode> {
  const place = await findPlace(input)
  const names = await readNames(input, place, input.args[0])
  if (!names) return EXIT.error
  const request = readRequest(input)
  const make = (known: Parameters<typeof makeOrder>[1]) => makeOrder(request, known)
  return carryOut(input, place, await prepareSend(place, { names, from: request.from, make }))
}

const OPTIONAL = ['amount', 'asset', 'chain', 'data', 'maxFee', 'gas'] as const

function readRequest({ options }: CommandInput): SendRequest {
  const find = (name: string) => {
    const text = options[name]
    return typeof text === 'string' && text !== '' ? text : undefined
  }
  const given = (name: string) => {
    const text = find(name)
    if (text === undefined) throw usage(`expected --${name}`, 'see `quorate send --help`')
    return text
  }
  const optional = Object.fromEntries(
    OPTIONAL.flatMap((name) => {
      const text = find(name)
      return text === undefined ? [] : [[name, text]]
    }),
  )
  return { from: given('from'), to: given('to'), reference: given('ref'), ...optional }
}
