import { toErrorJson } from '../../diagnostics/index.ts'
import { askPrivately, listenPrivately, type PrivateListener } from '../../local/index.ts'
import { ServiceError } from '../error.ts'
import type { Operator, OperatorRequest, OperatorState } from './operator.ts'

/** One line of JSON each way. */
type Reply = { readonly state: OperatorState } | { readonly error: ReturnType<typeof toErrorJson> }

/** The name of the operator's socket in a data folder: never the public API's, and the folder's owner's alone. */
const NAME = 'operator'

/** Answers the operator of a data folder until closed. The caller holds the folder's lock. */
export function listenForOperator(dataDir: string, operator: Operator): Promise<PrivateListener> {
  return listenPrivately(dataDir, NAME, (text) => JSON.stringify(answer(operator, text)))
}

function answer(operator: Operator, text: string): Reply {
  try {
    return { state: operator.answer(JSON.parse(text) as OperatorRequest) }
  } catch (error) {
    return { error: toErrorJson(error) }
  }
}

/**
 * Asks the service that serves a data folder. Throws `service/no-operator` when none listens, `service/operator-invalid`
 * when it refuses, `local/exposed` and `local/not-proved` where somebody else could answer, or does.
 */
export async function askOperator(dataDir: string, request: OperatorRequest): Promise<OperatorState> {
  const text = await askPrivately(dataDir, NAME, JSON.stringify(request))
  if (text === undefined) {
    throw new ServiceError('service/no-operator', `no service takes an operator's word for the folder \`${dataDir}\``, {
      facts: { folder: dataDir },
      next: 'start it with `quorate up` or `quorate serve`; with NODE_ENV=production only `quorate serve --operator` listens',
    })
  }
  const reply = JSON.parse(text) as Reply
  if ('state' in reply) return reply.state
  const { code, message, next } = reply.error
  throw new ServiceError(code as 'service/operator-invalid', message, next === undefined ? {} : { next })
}
