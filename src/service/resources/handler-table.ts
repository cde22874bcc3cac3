import type { PolicyContext } from '../../policy/index.ts'
import type {
  ActivityFamily,
  ActivityIntents,
  ActivityResults,
  ActivityType,
  JsonObject,
} from '../../protocol/index.ts'
import type { ExecutionContext, HandlerContext, NotExecuted, Outside } from '../engine/index.ts'

/** A handler over an intent of its own type; the engine's `Handler` with the JSON seen through the catalogue. */
export interface TypedHandler<Intent, Result> {
  readonly examine?: (intent: Intent, outside: Outside, organizationId: string) => Promise<JsonObject | undefined>
  readonly validate?: (context: HandlerContext, intent: Intent) => Promise<void>
  readonly facts?: (context: HandlerContext, intent: Intent) => Promise<Partial<PolicyContext>>
  readonly execute: (context: ExecutionContext, intent: Intent) => Promise<Result>
}

/** The handler of one activity type. */
export type HandlerOf<Type extends ActivityType> = TypedHandler<ActivityIntents[Type], ActivityResults[Type]>

/** Rows for some activity types, each fitting its type's intent and result. */
export type HandlerRows = { readonly [Type in ActivityType]?: HandlerOf<Type> | NotExecuted }

/** The family of an activity type: the type without prefix and version. */
export type FamilyOf<Type extends ActivityType> = (Type extends `ACTIVITY_TYPE_${infer Family}_V${number}`
  ? Family
  : Type extends `ACTIVITY_TYPE_${infer Family}`
    ? Family
    : never) &
  ActivityFamily

/** Gives an older version of an activity the handler of another form of its result. */
export function mapResult<Intent, Result, Older>(
  handler: TypedHandler<Intent, Result>,
  toResult: (result: Result) => Older,
): TypedHandler<Intent, Older> {
  return { ...handler, execute: async (context, intent) => toResult(await handler.execute(context, intent)) }
}

/** Gives an older version of an activity the handler of another form of its intent (docs/protocol/requests.md#versions). */
export function mapIntent<Older, Intent, Result>(
  handler: TypedHandler<Intent, Result>,
  toIntent: (older: Older) => Intent,
): TypedHandler<Older, Result> {
  const { examine, validate, facts, execute } = handler
  return {
    ...(examine && { examine: (older, outside, id) => examine(toIntent(older), outside, id) }),
    ...(validate && { validate: (context, older) => validate(context, toIntent(older)) }),
    ...(facts && { facts: (context, older) => facts(context, toIntent(older)) }),
    execute: (context, older) => execute(context, toIntent(older)),
  }
}
