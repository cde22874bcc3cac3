import type { InjectedFault } from '../../service/operator/index.ts'
import { view } from '../screen.ts'

/** Units in which the service's time is moved, the largest first. */
export const MOVE_UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 } as const

/** How far the service's time is ahead, as one would type it: `1d1h`. */
export function renderAhead(ms: number): string {
  let left = ms
  const parts = Object.entries(MOVE_UNITS).map(([unit, size]) => {
    const count = Math.floor(left / size)
    left -= count * size
    return count === 0 ? '' : `${count}${unit}`
  })
  return parts.join('')
}

/** `1  /public/v1/submit/*  3 times: refused with 429, Retry-After 1`. */
export const renderFault = view((fault: InjectedFault): string => {
  const { id, times } = fault
  const often = times === undefined ? 'every time' : times === 1 ? 'once' : `${times} times`
  const [meets, what] = 'webhook' in fault ? webhookFault(fault) : requestFault(fault)
  return `${id}  ${meets}  ${often}: ${what.join(', ')}\n`
})

type Of<Kind extends string> = Extract<InjectedFault, { readonly [Name in Kind]: string }>

function requestFault({ path, delayMs, status, retryAfter, drop }: Of<'path'>): readonly [string, readonly string[]] {
  return [
    path,
    [
      ...(delayMs === undefined ? [] : [`waits ${delayMs / 1000} s`]),
      ...(status === undefined ? [] : [`refused with ${status}`]),
      ...(retryAfter === undefined ? [] : [`Retry-After ${retryAfter}`]),
      ...(drop ? ['carried out, the answer dropped'] : []),
    ],
  ]
}

function webhookFault({ webhook, delayMs, lose, twice }: Of<'webhook'>): readonly [string, readonly string[]] {
  return [
    `webhook ${webhook}`,
    [
      ...(delayMs === undefined ? [] : [`comes ${delayMs / 1000} s late`]),
      ...(lose ? ['is lost'] : []),
      ...(twice ? ['comes twice'] : []),
    ],
  ]
}

/** What an operator left in force, said when a service comes up; nothing when it is as it should be. */
export const renderInForce = view(
  ({ aheadMs, faults }: { readonly aheadMs: number; readonly faults: readonly InjectedFault[] }): string => {
    const time = `The service's time is ${renderAhead(aheadMs)} ahead; \`quorate clock reset\` ends that.\n`
    const list = `Faults are in force; \`quorate fault clear\` ends them:\n${faults.map(renderFault).join('')}`
    return `${aheadMs > 0 ? time : ''}${faults.length > 0 ? list : ''}`
  },
)
