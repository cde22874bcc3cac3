import { defineQuery, defineSignal } from '@temporalio/workflow'
import type { ApplyNews, ApplyProgress, InsideProgress } from '../activities/model.ts'
import type { RotationProgress } from '../activities/rotation-model.ts'
import type { SendBatchProgress, SendNews } from '../activities/send-batch-model.ts'
import type { SendProgress } from '../activities/send-model.ts'

/** Where the apply stands. */
export const progress = defineQuery<ApplyProgress>('progress')
/** Whether the API was asked about all that waits since the last `nudge`. */
export const hasLooked = defineQuery<boolean>('has-looked')
/** Which workflow begins what is inside; null where there is none. */
export const insideWorkflow = defineQuery<string | null>('inside')
/** Where what is inside stands. */
export const insideProgress = defineQuery<InsideProgress>('progress')
/** Where the send stands. */
export const sendProgress = defineQuery<SendProgress>('progress')
/** Where the rotation stands. */
export const rotationProgress = defineQuery<RotationProgress>('progress')
/** Where the batch stands. */
export const batchProgress = defineQuery<SendBatchProgress>('progress')
/** How an apply stands, told to the workflow that begins what is inside. */
export const applyNews = defineSignal<[ApplyNews]>('apply-news')
/** What a batch has learned of one of its sends, which need not ask itself then. */
export const told = defineSignal<[SendNews]>('told')
/** There may be news of a waiting activity (a webhook came, somebody voted): ask now. Harmless when there is none. */
export const nudge = defineSignal('nudge')
/** Stop at the next safe point: nothing new is begun, and what is pending at the API stays pending. */
export const cancel = defineSignal('cancel')
/** Stop a batch: of its rows, none that has not been submitted will be; what was is followed to its end. */
export const stop = defineSignal('stop')
/** Go on with a batch that was stopped. Harmless when it was not. */
export const resume = defineSignal('resume')
