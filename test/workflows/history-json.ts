/**
 * Histories as the JSON that Temporal's own tools write, and back. The SDK's `historyToJSON` refuses its own types where
 * npm has put several copies of protobufjs into the tree, so this asks the copy that made them.
 */
import { createRequire } from 'node:module'
import type { WorkflowHandle } from '@temporalio/client'

export type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>

interface ProtoJson {
  toJson(type: unknown, message: unknown): unknown
  fromJson(type: unknown, json: unknown): History
}
interface MessageType {
  fromObject(message: unknown): unknown
}
interface ProtoRoot {
  lookupType(name: string): unknown
  readonly temporal: { readonly api: { readonly history: { readonly v1: { readonly History: MessageType } } } }
}

const requireFromCommon = createRequire(createRequire(import.meta.url).resolve('@temporalio/common'))
const requireFromProto = createRequire(requireFromCommon.resolve('@temporalio/proto'))
const { toJson, fromJson } = requireFromProto('protobufjs/ext/protojson') as ProtoJson
const { patchProtobufRoot } = requireFromCommon('@temporalio/proto/lib/patch-protobuf-root') as {
  patchProtobufRoot(root: unknown): ProtoRoot
}
const root = patchProtobufRoot(requireFromCommon('@temporalio/proto'))
const historyType = root.lookupType('temporal.api.history.v1.History')

/** Worker identities are left out: a history in the repository names no machine. */
export function historyToText(history: History): string {
  const json = toJson(historyType, root.temporal.api.history.v1.History.fromObject(history))
  return `${JSON.stringify(json, (name, value) => (name === 'identity' ? 'a worker' : value), 1)}\n`
}

export function historyFromText(text: string): History {
  return fromJson(historyType, JSON.parse(text))
}
