import type { Settings } from '../../config/index.ts'
import type { CommandRow } from '../command.ts'
import { comparedPlans, proofOptions, votePasskey, voteReason } from './option-rows.ts'

/** The API in words, before anything is known of it. */
const apiName = ({ baseUrl }: Settings) => baseUrl ?? 'the embedded service'

/** Of activities and the votes on them. */
export const votingCommands: readonly CommandRow[] = [
  {
    name: 'activities',
    summary: 'list activities, newest first',
    options: [
      { flags: '--waiting', meaning: 'only those that wait for approval' },
      { flags: '--limit <count>', meaning: 'how many (default: 20)' },
    ],
    example: 'quorate activities --waiting',
    help: {
      description: 'Shows each activity with its short code, status, author and votes.',
      examples: [['quorate activities --limit 100 --json', 'as data']],
      seeAlso: ['approvals', 'status'],
    },
    opening: (_, settings) => `Reading activities of ${apiName(settings)} …`,
    load: async () => (await import('./activities.ts')).activities,
  },
  {
    name: 'approvals',
    summary: 'list what waits for the vote of the key in use, oldest first',
    options: [{ flags: '--all', meaning: 'also what you have approved, and what waits for others' }, comparedPlans],
    example: 'quorate approvals --key-file .quorate/keys/bob.json',
    help: {
      description:
        'Shows of each activity its short code, what it changes, who asked for it and when, which plan at which commit asks for it, whose approval is missing, and whether yours counts. What no known plan asks for is said to be made outside.',
      examples: [['quorate approvals --plan plan.json', 'held against the plan that you have approved']],
      seeAlso: ['review', 'approve', 'reject', 'activities'],
    },
    opening: (_, settings) => `Reading what waits at ${apiName(settings)} …`,
    load: async () => (await import('./approvals.ts')).approvals,
  },
  {
    name: 'review',
    summary: 'show what a waiting activity would change, who gains or loses power by it, and whose approval it lacks',
    args: '<activity>',
    argMeanings: { activity: 'its id, its fingerprint, or the short code that plan and status show' },
    options: [comparedPlans],
    example: 'quorate review 7f3a-19c2 --key-file .quorate/keys/bob.json',
    help: {
      description:
        'The change is rebuilt from the activity’s own intent and from what lives, not from what anybody says about it. Votes are counted as the service counts them. Votes on nothing.',
      examples: [['quorate review 7f3a-19c2 --plan plan.json', 'and says where it is not what that plan says']],
      seeAlso: ['approvals', 'approve', 'reject'],
    },
    opening: (_, settings) => `Reading the activity at ${apiName(settings)} …`,
    load: async () => (await import('./review.ts')).review,
  },
  {
    name: 'approve',
    summary: 'vote for a waiting activity with the key in use, after showing what it does',
    args: '<activity>',
    argMeanings: { activity: 'its id, its fingerprint, or the short code that plan and status show' },
    options: [
      { flags: '--yes', meaning: 'do not ask for confirmation' },
      voteReason,
      comparedPlans,
      {
        flags: '--despite-mismatch',
        meaning: 'approve what asks for something else than the plan that it belongs to',
      },
      votePasskey,
      ...proofOptions,
    ],
    example: 'quorate approve 7f3a-19c2 --key-file .quorate/keys/bob.json',
    help: {
      description:
        'Shows what the activity itself asks for, not what anybody says about it, and then votes. Your key decides who votes; a vote lapses after 24 hours. What an MFA policy of yours still asks for is given by approving once more, by `--passkey`, `--email`, `--phone` or `--oidc`.',
      examples: [['quorate approve 7f3a-19c2 --passkey', 'by the passkey that is still missing']],
      exits: ['refused'],
      seeAlso: ['approvals', 'review', 'reject', 'policy explain'],
    },
    load: async () => (await import('./vote.ts')).approve,
  },
  {
    name: 'reject',
    summary: 'vote against a waiting activity with the key in use; it ends for good',
    args: '<activity>',
    argMeanings: { activity: 'its id, its fingerprint, or the short code that plan and status show' },
    options: [
      { flags: '--yes', meaning: 'do not ask for confirmation' },
      voteReason,
      comparedPlans,
      votePasskey,
      ...proofOptions,
    ],
    example: 'quorate reject 7f3a-19c2 --key-file .quorate/keys/bob.json',
    help: {
      description:
        'Shows what the activity asks for, and then votes. An apply that waited for it ends as rejected, and nothing is tried again until somebody asks for it anew.',
      seeAlso: ['activities', 'approve'],
    },
    load: async () => (await import('./vote.ts')).reject,
  },
]
