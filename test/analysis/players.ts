/** People of one organization of a service, who try to get activities executed: by every order of their votes, with every credential. */
import type { ActivityType, Wire } from '../../src/protocol/index.ts'
import type { TestClient, TestService } from '../service/harness.ts'

type Raw = TestClient['raw']

export interface Players {
  /** Tries an activity with the votes of these people, in every order and with every credential, until it is executed. */
  readonly get: (
    type: ActivityType,
    parameters: object,
    people?: readonly string[],
  ) => Promise<Wire.Activity | undefined>
  /** Lets somebody stamp in one way more. */
  readonly joins: (name: string, raw: Raw) => void
  readonly asked: () => number
}

/** Lets these people play; who has no way to stamp takes no part. */
export function createPlayers(
  service: TestService,
  organizationId: string,
  stampings: Readonly<Record<string, readonly { readonly raw: Raw }[]>>,
): Players {
  const ways = new Map(Object.entries(stampings).map(([name, some]) => [name, some.map(({ raw }) => raw)]))
  let asked = 0
  const send = async (raw: Raw, type: ActivityType, parameters: object) => {
    const { path, text } = service.body(type, parameters, { organizationId })
    const answer = await raw(path, text)
    asked++
    return answer.status === 200 ? (answer.body['activity'] as unknown as Wire.Activity) : undefined
  }
  const get: Players['get'] = async (type, parameters, people = [...ways.keys()]) => {
    const able = people.filter((name) => (ways.get(name) ?? []).length > 0)
    if (able.length === 0) return undefined
    for (const order of ordersOf(able)) {
      for (const chosen of waysOf(order.map((name) => ways.get(name)!.length))) {
        const rawOf = (at: number) => ways.get(order[at]!)![chosen[at]!]!
        let last = await send(rawOf(0), type, parameters)
        const { fingerprint } = last ?? { fingerprint: '' }
        for (let at = 1; at < order.length && last?.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED'; at++)
          last = (await send(rawOf(at), 'ACTIVITY_TYPE_APPROVE_ACTIVITY', { fingerprint })) ?? last
        if (last?.status === 'ACTIVITY_STATUS_COMPLETED') return last
        // An activity that was allowed and failed fails by any other votes too.
        if (last?.status === 'ACTIVITY_STATUS_FAILED') return undefined
      }
    }
    return undefined
  }
  const joins: Players['joins'] = (name, raw) => ways.set(name, [...(ways.get(name) ?? []), raw])
  return { get, joins, asked: () => asked }
}

export function* ordersOf<T>(all: readonly T[]): Generator<readonly T[]> {
  if (all.length === 0) yield []
  for (const first of all) for (const rest of ordersOf(all.filter((one) => one !== first))) yield [first, ...rest]
}

export function* waysOf([first, ...rest]: readonly number[]): Generator<readonly number[]> {
  if (first === undefined) yield []
  else for (let way = 0; way < first; way++) for (const others of waysOf(rest)) yield [way, ...others]
}
