import { defineQuery, defineSignal } from '@temporalio/workflow'
import type { ApplyNews, ApplyProgress, InsideProgress } from '../activities/model.ts'
import type { RotationProgress } from '../activities/rotation-model.ts'
import type { SendBatchProgress, SendNews } from '../activities/send-batch-model.ts'
import type { SendProgress } from '../activities/send-model.ts'

/** Where the apply stands. */
export const progress = defineQuery<ApplyProgress>('progress')
/** Whether the API was asked about every waiting activity since the last `nudge`. */
export const hasLooked = defineQuery<boolean>('has-looked')
/** The id of the workflow that begins the applies of sub-organizations; null if there is none. */
export const insideWorkflow = defineQuery<string | null>('inside')
/** Where the applies of sub-organizations stand. */
export const insideProgress = defineQuery<InsideProgress>('progress')
/** Where the send stands. */
export const sendProgress = defineQuery<SendProgress>('progress')
/** Where the rotation stands. */
export const rotationProgress = defineQuery<RotationProgress>('progress')
/** Where the batch stands. */
export const batchProgress = defineQuery<SendBatchProgress>('progress')
/** How an apply stands, told to `applyInside`. */
export const applyNews = defineSignal<[ApplyNews]>('apply-news')
/** What a batch has learned of one of its sends, so that the send need not poll. */
export const told = defineSignal<[SendNews]>('told')
/** There may be news of a waiting activity (a webhook came, somebody voted): ask now. Harmless when there is none. */
export const nudge = defineSignal('nudge')
/** Stop at the next safe point: no more is begun, and activities that wait at the API go on waiting. */
export const cancel = defineSignal('cancel')
/** Stop a batch: no further row is submitted, and rows that were submitted are followed to their ends. */
export const stop = defineSignal('stop')
/** Go on with a batch that was stopped. Harmless when it was not. */
export const resume = defineSignal('resume')
