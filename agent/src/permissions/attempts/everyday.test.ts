// Commands of every day that rules about something else must leave alone: failing closed must not make the agent unusable.
import { expect, test } from 'vitest'
import { makeWorkspace, sorted } from '../../testing/decide-command.ts'
import { setFolder } from '../../testing/folder.ts'

const temporary = setFolder()

const everyday = String.raw`
npm test
npm run build
npm ci
npm install zod
npm run lint -- --fix
npx vitest run src/a.test.ts
npx tsc --noEmit
pnpm install
yarn build
node scripts/build.js
node --test
node --version
node --import tsx src/main.ts
python3 -m pytest -q
python3 manage.py migrate
pip install -r requirements.txt
cargo build --release
cargo test -- --nocapture
go test ./...
go build -o bin/app ./cmd/app
make
make -j4 test
make -C docs html
docker compose up -d
git status
git status --short && git diff --stat
git log --oneline -10
git log --graph --all
git diff HEAD~1 -- src
git diff --cached
git show HEAD
git show HEAD~2:src/main.ts
git add -A
git add src/a.ts src/b.ts
git commit -m "Fix the parser; remove dead code"
git commit -am 'rm is no longer used'
git commit -m "$(cat <<'EOF' EOL Do not push, rm nothing EOL EOF EOL)"
git checkout -b feature/x
git switch main
git branch -vv
git fetch origin
git pull --rebase
git stash && git stash pop
git rebase main
git merge --no-ff topic
git tag v1.2.3
git remote -v
git config user.name
git config --get remote.origin.url
git config user.email me@example.com
git -C packages/a status
git --no-pager log -3
git rev-parse --show-toplevel
git blame -L 10,20 src/a.ts
git worktree list
git restore src/a.ts
ls
ls -la src
ls *.ts
ls src/*.{ts,tsx}
pwd
cat src/main.ts
cat package.json tsconfig.json
head -50 README.md
tail -n 20 log.txt
wc -l src/*.ts
grep -rn foo src
grep -rn "TODO\|FIXME" src --include='*.ts'
rg -n "export function" src
find . -name '*.test.ts' -not -path './node_modules/*'
find src -type f
mkdir -p src/{a,b}/c
mkdir -p build && cd build && cmake ..
cp a.txt b.txt
mv src/a.ts src/b.ts
touch src/new.ts
echo "done"
echo $HOME
echo "exit: $?"
printf '%s\n' hello
sed -n '10,20p' src/a.ts
sed -i 's/foo/bar/g' src/a.ts
sed -e 's|a/b|c|' -e '/x/d' a.txt
awk '{print $1}' a.txt
awk -F, 'NR > 1 && $2 != "x"' a.csv
sort a.txt | uniq -c | sort -rn
cut -d: -f1 /etc/passwd
diff a.txt b.txt
diff <(sort a.txt) <(sort b.txt)
curl -s http://localhost:3000/health
curl -sSL https://example.com -o page.html
tar xzf a.tgz
tar czf a.tgz src
unzip -q a.zip -d out
chmod +x scripts/run.sh && ./scripts/run.sh
bash scripts/run.sh --fast
NODE_ENV=test npm test
PATH="$PWD/bin:$PATH" npm test
CI=1 FORCE_COLOR=0 npm test 2>&1 | tail -20
npm test > out.txt 2>&1
npm test 2>/dev/null || true
cd packages/a && npm test
(cd docs && make html)
if [ -f a.txt ]; then echo yes; fi
for i in 1 2 3; do echo "$i"; done
while ! curl -sf localhost:3000; do sleep 1; done
[[ -f a.txt ]] && echo yes
test -d src && echo ok
timeout 60 npm test
time npm run build
set -euo pipefail; npm test
export NODE_ENV=production && npm run build
npm run dev &
which node
ps aux | grep node
kill 1234
lsof -i :3000
du -sh src
env | grep NODE
jq -r .version package.json
cat > notes.txt <<'EOF' EOL hello EOL EOF
psql -c 'select 1' app
sudo apt-get install -y jq
`
  .trim()
  .split('\n')
  .map((line) => line.replaceAll(' EOL ', '\n').replaceAll(' EOL)', '\n)'))

test.each([
  'Read(.env)',
  'Read(/secrets/**)',
  'Edit(package-lock.json)',
  'Bash(rm:*)',
  'Bash(git push:*)',
  'Bash(curl -X *)',
])('with %s denied, everyday commands run without a question', (rule) => {
  const root = makeWorkspace(temporary())
  expect(sorted(everyday, root, { deny: [rule] })).toEqual({ allow: everyday, ask: [], deny: [] })
})
