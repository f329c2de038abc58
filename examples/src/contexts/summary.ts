// A model's summary of the made-up session. Most of it is right. It omits two of the user's messages, claims an approval that
// nobody gave, and says that a failed check passed.
export const modelSummary = `1. Primary request and intent:
   - Make POST /payments idempotent with an Idempotency-Key header: a client that retries after a timeout must not be charged twice.
   - Then write the migration for the table idempotency_keys, without running it.
   - The exported types in src/api.ts must not change.

2. Key technical concepts:
   - Idempotency keys in Postgres, stored in the transaction of the payment. \`insert … on conflict do nothing returning\` takes the row lock, so the insert itself is the check.
   - Redis with a TTL of 24 hours was rejected: a failover can lose keys, and a lost key is a second charge.

3. Files and code sections:
   - src/payments.ts: \`createPayment(request, key)\` runs in \`store.transaction\`. It inserts the key first and returns the stored response if the key is known.
   - src/store.ts: \`insertKey\` and \`saveResponse\`. Both use \`this.current()\`, the client of the open transaction.
   - migrations/0042_idempotency_keys.sql: table and an index on created_at for the cleanup, with a down part.
   - test/migrations.test.ts: expects \`down\` of migration 42.

4. Errors and fixes:
   - The test "retries › returns the first answer" failed with two charges, because \`insertKey\` ran outside the transaction. Fixed by using \`this.current()\`.
   - Staging logged \`idempotency_keys_pkey\` violations: it runs the build before 4be19d2, which looked first and inserted afterwards. 200 parallel requests against the current code gave 1 charge and no error, so nothing has to be fixed.

5. Problem solving:
   - Idempotency is done and committed as 4be19d2. The user approved deploying 4be19d2 to staging.

6. All user messages:
   - "POST /payments charges twice when a client retries after a timeout. Make it idempotent with an Idempotency-Key header. Never change the exported types in src/api.ts, other teams compile against them."
   - "2" (Postgres)
   - "This is from staging last night. What happened there?"
   - "Good. Now write the migration for idempotency_keys. Keys may be dropped after 7 days, not 24 hours, because the mobile app retries for days. Do not run it, our DBA does that."

7. Pending tasks:
   - Finish the migration: the type \`Migration\` needs \`down\`.
   - The cleanup job that drops keys after 7 days has not been written; the user has not asked for it yet.

8. Current work:
   - \`npm run typecheck\` passes.
   - \`npm test\` last passed with 121 tests, before the migration was written.

9. Optional next step:
   - Add \`readonly down: string\` to \`Migration\` in src/migrate.ts, set it in \`loadMigrations\`, then run \`npm run typecheck\` and \`npm test\`. Do not run the migration: "our DBA does that".`
