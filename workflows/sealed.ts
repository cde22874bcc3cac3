/**
 * What came sealed: payloads that the codec opened with a key of the data folder carry the side that made them, and values and
 * failures that were read from such payloads are remembered here. Everything else that a workflow meets was written by
 * somebody who reaches Temporal and has no key. Both ends of Temporal use this file, so it reaches nothing but the SDK.
 */
import {
  ApplicationFailure,
  DefaultFailureConverter,
  defaultPayloadConverter,
  type FailureConverter,
  type Payload,
  type PayloadConverter,
  type SerializationContext,
} from '@temporalio/common'

/** Who made a payload: a workflow, or what is outside of workflows, which is steps and clients. */
export type Side = 'workflow' | 'outside'

/** The name of a payload's encoding that the codec gives where it could not open one; `missing` beside it is the id of the key that it lacks. */
export const REFUSED = 'binary/quorate-refused'

/** What a workflow fails its task with where it has begun and its start cannot be opened here. */
export const KEY_MISSING = 'this worker does not have the payload key of the workflow'

/** Stands in a workflow for a payload that nobody with the key made, or that was made for another place. */
export class RefusedPayload {}

/** Thrown outside of workflows for the same. */
export class PayloadRefused extends Error {
  override readonly name = 'PayloadRefused'
  /** The id of the key that it says it was sealed with, where that is none of this data folder. */
  readonly missingKey: string | undefined

  constructor(missingKey?: string) {
    super('a payload was not sealed with a key of this data folder, or for another place')
    this.missingKey = missingKey
  }
}

type Context = SerializationContext | undefined

// Values alone, weakly: one memory for each workflow and one for each process.
const sealed = new WeakSet<object>()

/** Whether a value or failure was read from a payload that was sealed. */
export function isSealed(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && sealed.has(value)
}

/** The SDK's own converter, which also says who made a payload, and reads none of the wrong side. */
export function createSealedConverter(side: Side): PayloadConverter {
  return {
    toPayload<T>(value: T, context?: SerializationContext) {
      const { metadata, data } = defaultPayloadConverter.toPayload(value, context)
      return { metadata: { ...metadata, side: bytesOf(side) }, data } as Payload
    },
    fromPayload<T>(payload: Payload, context?: SerializationContext): T {
      if (!isFor(side, payload, context)) {
        if (side === 'workflow') return new RefusedPayload() as T
        throw new PayloadRefused(textOf(payload.metadata?.['missing']))
      }
      const value = defaultPayloadConverter.fromPayload<T>(payload, context)
      if (sideOf(payload) !== undefined && typeof value === 'object' && value !== null) sealed.add(value)
      return value
    },
  }
}

/**
 * Whether a payload may be read here. A step's input was made by a workflow and its result was not; a client's answer was made
 * by a workflow. So what somebody kept of one cannot be handed in as the other.
 */
function isFor(reader: Side, payload: Payload, context: Context): boolean {
  const maker = sideOf(payload)
  const encoding = textOf(payload.metadata?.['encoding'])
  if (encoding === REFUSED) return false
  // Without a codec nothing is sealed: a history of before is replayed.
  if (maker === undefined) return true
  // A step beats without details, and reads them when it is tried again.
  if (encoding === 'binary/null') return true
  if (reader === 'workflow') return context?.type !== 'activity' || maker === 'outside'
  return maker === 'workflow'
}

export function sideOf({ metadata }: Payload): string | undefined {
  return textOf(metadata?.['side'])
}

function textOf(bytes: Uint8Array | null | undefined): string | undefined {
  return bytes ? String.fromCharCode(...bytes) : undefined
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

type ProtoFailure = Parameters<FailureConverter['failureToError']>[0]

/**
 * Puts message, type and whether it may pass into a failure's sealed attributes: all else of a failure stands in clear in a
 * history, and anybody can write it.
 */
class SealedFailureConverter extends DefaultFailureConverter {
  override errorToFailure(error: unknown, converter: PayloadConverter, context?: SerializationContext): ProtoFailure {
    const { message, stackTrace: _, ...failure } = this.errorToFailureInner(error, converter, context)
    const info = failure.applicationFailureInfo
    const { type, nonRetryable } = info ?? {}
    return {
      ...failure,
      message: 'sealed',
      encodedAttributes: converter.toPayload({ message, stack_trace: '', type, nonRetryable }, context),
      ...(info ? { applicationFailureInfo: { ...info, type: '' } } : {}),
    }
  }

  override failureToError(failure: ProtoFailure, converter: PayloadConverter, context?: SerializationContext): Error {
    const { encodedAttributes, applicationFailureInfo: info } = failure
    const said: unknown = encodedAttributes ? converter.fromPayload(encodedAttributes, context) : undefined
    if (!isSealed(said)) return super.failureToError(failure, converter, context)
    const { type, nonRetryable } = said as { readonly type?: string; readonly nonRetryable?: boolean }
    const error = super.failureToError(
      { ...failure, ...(info ? { applicationFailureInfo: { ...info, type, nonRetryable } } : {}) } as ProtoFailure,
      converter,
      context,
    )
    if (error instanceof ApplicationFailure) sealed.add(error)
    return error
  }
}

export const failureConverter: FailureConverter = new SealedFailureConverter()
