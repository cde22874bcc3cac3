import type { PolicyContext } from '../../policy/index.ts'
import type { ActivityFamily, ActivityIntents, ActivityResults, ActivityType } from '../../protocol/index.ts'
import type { ExecutionContext, HandlerContext, NotExecuted, Outside } from '../engine/index.ts'
import type { Rows } from '../store/index.ts'

/**
 * A handler over an intent of its own type; the engine's `Handler` with the JSON seen through the catalogue. `Answers` is what
 * its `prepare` gives, which its other functions find in their context.
 */
export interface TypedHandler<Intent, Result, Answers extends object = never> {
  // biome-ignore lint/suspicious/noConfusingVoidType: most only refuse, and have no answers.
  readonly prepare?: (intent: Intent, outside: Outside, organizationId: string) => Promise<Answers | void>
  readonly found?: (context: HandlerContext<Answers>, intent: Intent) => Promise<void>
  readonly validate?: (context: HandlerContext<Answers>, intent: Intent) => Rows<void>
  readonly facts?: (context: HandlerContext<Answers>, intent: Intent) => Promise<Partial<PolicyContext>>
  readonly execute: (context: ExecutionContext<Answers>, intent: Intent) => Rows<Result>
}

/** The handler of one activity type, whatever its answers are. */
export type HandlerOf<Type extends ActivityType> = Omit<
  TypedHandler<ActivityIntents[Type], ActivityResults[Type]>,
  'prepare'
> &
  Pick<TypedHandler<ActivityIntents[Type], never, object>, 'prepare'>

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
export function mapResult<Intent, Result, Older, Answers extends object>(
  handler: TypedHandler<Intent, Result, Answers>,
  toResult: (result: Result) => Older,
): TypedHandler<Intent, Older, Answers> {
  return { ...handler, execute: async (context, intent) => toResult(await handler.execute(context, intent)) }
}

/** Gives an older version of an activity the handler of another form of its intent (docs/protocol/requests.md#versions). */
export function mapIntent<Older, Intent, Result, Answers extends object>(
  handler: TypedHandler<Intent, Result, Answers>,
  toIntent: (older: Older) => Intent,
): TypedHandler<Older, Result, Answers> {
  const { prepare, validate, facts, execute } = handler
  return {
    ...(prepare && { prepare: (older, outside, id) => prepare(toIntent(older), outside, id) }),
    ...(validate && { validate: (context, older) => validate(context, toIntent(older)) }),
    ...(facts && { facts: (context, older) => facts(context, toIntent(older)) }),
    execute: (context, older) => execute(context, toIntent(older)),
  }
}
