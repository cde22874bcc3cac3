/** Shows whoever lists workflows at Temporal how a run stands and on which activities it waits. */
import { condition, patched, upsertMemo, upsertSearchAttributes } from '@temporalio/workflow'
import type { ApplyProgress, ShownBy } from '../activities/model.ts'
import { SEARCH_ATTRIBUTES } from './names.ts'

/** What is shown of a run from its start: ids, digests and commits. */
interface ShownRun {
  /** @default nowhere */
  readonly shownBy?: ShownBy | undefined
  readonly organizationId: string
  /** Digest of the plan; id of the send, batch or rotation. A send of a batch has the batch's. */
  readonly carriesOut: string
  readonly commit?: string | undefined
}

interface Stand {
  /** A word of ours. */
  readonly state: string
  /** Ids of activities. */
  readonly waitingOn: readonly string[]
}

export interface Show {
  /** Shows the run once more where it stands otherwise than before. */
  readonly now: () => void
  /** Does so at every change, for as long as the run lasts. */
  readonly changes: () => Promise<void>
}

export function createShow({ shownBy, organizationId, carriesOut, commit }: ShownRun, stand: () => Stand): Show {
  const nothing = { now: () => {}, changes: async () => {} }
  // An older worker may have begun it, and shown nothing.
  if (shownBy === undefined || !patched('run-shown')) return nothing
  const marks = SEARCH_ATTRIBUTES
  const show = ({ state, waitingOn }: Stand) => {
    // A client's memo could not be read by a client: what it reads, a workflow has made.
    if (shownBy === 'memo')
      return upsertMemo({
        [marks.organization.name]: organizationId,
        [marks.plan.name]: carriesOut,
        ...(commit === undefined ? {} : { [marks.commit.name]: commit }),
        [marks.state.name]: state,
        [marks.waitingOn.name]: waitingOn,
      })
    upsertSearchAttributes([
      { key: marks.organization, value: organizationId },
      { key: marks.plan, value: carriesOut },
      ...(commit === undefined ? [] : [{ key: marks.commit, value: commit }]),
      { key: marks.state, value: state },
      { key: marks.waitingOn, value: [...waitingOn] },
    ])
  }
  let before = ''
  const now = () => {
    const text = JSON.stringify(stand())
    if (text === before) return
    before = text
    show(stand())
  }
  return {
    now,
    async changes() {
      for (;;) {
        now()
        await condition(() => JSON.stringify(stand()) !== before)
      }
    },
  }
}

export function standOfApply({ state, batches }: ApplyProgress): Stand {
  const waiting = batches.filter((one) => one.state === 'waiting' && one.activityId)
  return { state, waitingOn: waiting.map(({ activityId }) => activityId!) }
}

/** Shows a run of one activity at a time. */
export function standOf(state: string, waitsFor: string | undefined): Stand {
  return { state, waitingOn: state === 'waiting' && waitsFor ? [waitsFor] : [] }
}
