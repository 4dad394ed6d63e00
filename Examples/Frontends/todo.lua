-- SPDX-License-Identifier: Apache-2.0
-- A live todo list in Neovim (0.7 or later), with its language client: `:Todo TEXT` adds a todo.
-- STATEWIRE=.build/debug/statewire nvim -S Examples/Frontends/todo.lua
local buffer = vim.api.nvim_create_buf(false, true)
local function draw(state)
  local lines = {}
  for _, todo in ipairs(state.todos or {}) do
    table.insert(lines, (todo.completed and '[x] ' or '[ ] ') .. todo.title:gsub('\n', '\\n'))
  end
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, state.message and { state.message } or lines)
end
local id = vim.lsp.start_client({
  name = 'statewire',
  cmd = { vim.env.STATEWIRE or 'statewire', 'serve' },
  handlers = { ['store/changed'] = function(_, params) draw(params.state) end },
})
vim.wait(10000, function() return vim.lsp.get_client_by_id(id).initialized end)
local function request(method, params)
  params.store = 'todo'
  vim.lsp.get_client_by_id(id).request(method, params, function(err, result)
    if err then vim.notify(err.message) elseif result.state then draw(result.state) end
  end, buffer)
end
request('store/subscribe', { format = 'state' })
request('store/send', { input = { type = 'stateRequested' } })
vim.api.nvim_create_user_command('Todo', function(command)
  request('store/send', { input = { type = 'todoAdded', title = command.args } })
end, { nargs = '+' })
vim.api.nvim_set_current_buf(buffer)
