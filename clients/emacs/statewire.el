;;; statewire.el --- The todo list of a Statewire server  -*- lexical-binding: t -*-
;; SPDX-License-Identifier: Apache-2.0

;; Version: 1.0.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: comm, processes

;;; Commentary:

;; A Statewire client.  `M-x statewire' starts a server and shows the list in its database.
;; `M-x statewire-connect' connects to a server and, with the handle of a session, joins that
;; session, for example the one of a page.
;;
;; The keys only send inputs.  The buffer shows the view state, which the server updates with
;; `store/changed' notifications, each with a patch from one revision to the next.  PROTOCOL.md
;; describes the protocol.  jsonrpc.el, a part of Emacs, implements JSON-RPC.

;;; Code:

(require 'json)
(require 'jsonrpc)
(require 'seq)
(require 'statewire-json)
(eval-when-compile (require 'subr-x))

(defgroup statewire nil
  "Frontends of a Statewire server."
  :group 'applications)

(defcustom statewire-command '("statewire" "serve")
  "The command of a server on standard input and output, a list of words."
  :type '(repeat string))

(defcustom statewire-verify-seconds 5
  "Seconds after a change until the list is compared with the server's."
  :type 'number)

(defface statewire-done '((t :inherit shadow :strike-through t))
  "Face of todos that are completed.")

(defvar-local statewire--address nil
  "The address of the server: (HOST PORT SESSION), or nil for a spawned one.")
(defvar-local statewire--open nil
  "The params of a `store/open' to send first, or nil.")
(defvar-local statewire--connection nil
  "The current connection.")
(defvar-local statewire--status ""
  "The text of the header line.")
(defvar-local statewire--state nil
  "The view state.")
(defvar-local statewire--revision nil
  "The revision of the state, nil while the whole state is requested.")
(defvar-local statewire--resyncs nil
  "Divergences for which the whole state was requested, newest first.
Each is `gap', `patch' or `digest'.")
(defvar-local statewire--limits nil
  "The limits in the result of `initialize', a plist.")
(defvar-local statewire--kept nil
  "Titles that are not accepted yet, oldest first, as plists.
`:type' is the type of the input, `:id' the todo, `:title' the title.
`:reason' is the reason of the refusal, or nil while the input is pending.")
(defvar-local statewire--removed nil
  "The ids of the todos that this client has removed.")
(defvar-local statewire--timer nil
  "The timer of the next verification.")

;;; The connection

(defun statewire--start-process (name)
  "Start the process of a connection with NAME: a server or a socket."
  (condition-case fault
      (pcase statewire--address
        (`(,host ,port . ,_)
         (make-network-process :name name :host host :service port
                               :coding 'utf-8-emacs-unix :noquery t))
        (_ (make-process :name name :command statewire-command :connection-type 'pipe
                         :coding 'utf-8-emacs-unix :noquery t
                         :stderr (get-buffer-create (format "*%s stderr*" name)))))
    (file-error
     ;; jsonrpc.el has created this buffer for the log of a server.
     (kill-buffer (format "*%s stderr*" name))
     (user-error "Cannot connect: %s; press g to try again"
                 (string-join (seq-take-while #'stringp (cdr fault)) ", ")))))

(defun statewire--connect ()
  "Connect, and show the list."
  (statewire--disconnect)
  (setq statewire--status "Not connected: press g to try again"
        statewire--revision nil)
  (let ((name (symbol-name (gensym "statewire-"))))
    (setq statewire--connection
          (apply #'make-instance 'jsonrpc-process-connection
                 :name name
                 :process (lambda () (statewire--start-process name))
                 :notification-dispatcher (statewire--in-buffer #'statewire--notified)
                 :on-shutdown (statewire--in-buffer #'statewire--ended)
                 ;; Disables the log of messages.  Emacs 30 has another option for it.
                 (if (slot-exists-p 'jsonrpc-process-connection '-events-buffer-config)
                     '(:events-buffer-config (:size 0 :format short))
                   '(:events-buffer-scrollback-size 0)))))
  (statewire--request 'initialize '(:protocolVersion "1" :client (:name "statewire-emacs"))
                      (lambda (result) (setq statewire--limits (plist-get result :limits))))
  (if-let ((session (nth 2 statewire--address)))
      (statewire--request 'session/attach `(:session ,session) (lambda (_) (statewire--begin)))
    (statewire--begin)))

(defun statewire--begin ()
  "Subscribe to the list and load it."
  (when statewire--open (statewire--request 'store/open statewire--open))
  (statewire--subscribe)
  (statewire--request 'store/send (statewire--input "stateRequested")))

(defun statewire--connected-p ()
  "Return non-nil while connected."
  (and statewire--connection (jsonrpc-running-p statewire--connection)))

(defun statewire--disconnect ()
  "Close the connection, if there is one."
  (when statewire--timer (cancel-timer statewire--timer))
  (when-let ((connection statewire--connection))
    (setq statewire--connection nil statewire--timer nil)
    (jsonrpc-shutdown connection t)))

(defun statewire--probe ()
  "Send a ping; disconnect if there is no response in time."
  (let ((connection statewire--connection))
    (jsonrpc-async-request
     connection 'ping nil
     :timeout-fn (statewire--in-buffer
                  (lambda ()
                    (when (eq connection statewire--connection)
                      (statewire--disconnect)
                      (statewire--show-lost "the server does not respond")))))))

(defun statewire--request (method params &optional then failed)
  "Send the request METHOD with PARAMS; call THEN here with the result.
On failure call FAILED with the reason; without FAILED, show the reason.
A frame above the limit is not sent, because it would get no response."
  (let ((failed (or failed
                    (lambda (reason)
                      ;; `statewire--ended' reports the end of the connection.
                      (when (statewire--connected-p) (statewire--show-status reason)))))
        (limit (plist-get statewire--limits :frameBytes)))
    (cond ((not (statewire--connected-p)) (funcall failed "not connected"))
          ((and limit (> (statewire--frame-bytes method params) limit))
           (funcall failed (format "the message exceeds the limit of %d bytes" limit)))
          (t
           (condition-case fault
               (jsonrpc-async-request
                statewire--connection method params
                :success-fn (statewire--in-buffer (or then #'ignore))
                :error-fn (statewire--in-buffer
                           (lambda (fault) (funcall failed (plist-get fault :message))))
                :timeout-fn (statewire--in-buffer
                             (lambda ()
                               (funcall failed (format "no response to %s in time" method)))))
             ;; Text that is not Unicode cannot be encoded as JSON.
             (error (funcall failed (error-message-string fault))))))))

(defun statewire--frame-bytes (method params)
  "Compute the length of the request METHOD with PARAMS in bytes."
  (let ((message `(:jsonrpc "2.0" :method ,method :id ,most-positive-fixnum :params ,params)))
    (string-bytes (encode-coding-string (json-encode message) 'utf-8-unix))))

(defun statewire--in-buffer (function)
  "Wrap FUNCTION to run in this buffer, if the buffer is live."
  (let ((buffer (current-buffer)))
    (lambda (&rest arguments)
      (when (buffer-live-p buffer)
        (with-current-buffer buffer (apply function arguments))))))

(defconst statewire--bidi "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
  "The bidirectional controls, for a regexp.")

(defun statewire--printable (text)
  "Return TEXT with visible characters in place of control characters."
  (replace-regexp-in-string
   (format "[\0-\u001f\u007f-\u009f\u2028\u2029%s]" statewire--bidi)
   (lambda (found)
     (let ((code (aref found 0)))
       (string (cond ((< code ?\s) (+ #x2400 code)) ((= code #x7f) #x2421) (t #xfffd)))))
   text t t))

(defun statewire--show-status (text)
  "Show TEXT in the echo area, and in the header line if the list is stale."
  (let ((text (statewire--printable text)))
    (message "Statewire: %s" text)
    (unless statewire--revision (setq statewire--status text))
    (force-mode-line-update)))

(defun statewire--ended (connection)
  "Report the end of CONNECTION and the last error of the server."
  (when (eq connection statewire--connection)
    (let ((fault (and (slot-boundp connection 'last-error) (jsonrpc-last-error connection)))
          (log (with-current-buffer (jsonrpc-stderr-buffer connection)
                 (car (last (split-string (buffer-string) "\n" t))))))
      (statewire--show-lost (or (plist-get fault :message) log)))))

(defun statewire--show-lost (reason)
  "Show that the connection was lost for REASON, a string or nil."
  (setq statewire--revision nil)
  (statewire--show-status (concat "Connection lost: press g to reconnect"
                                  (when reason (format " (%s)" reason)))))

;;; The state

(defun statewire--store ()
  "Return the name of the store."
  (or (plist-get statewire--open :store) "todo"))

(defun statewire--input (type &rest members)
  "Return params of `store/send' for an input of TYPE with MEMBERS, a plist."
  `(:store ,(statewire--store) :input (:type ,type ,@members) :settle t))

(defun statewire--subscribe (&optional reason)
  "Request the whole state; REASON is the divergence of the current state.
Until it arrives, updates are ignored: they start from another state."
  (when reason (push reason statewire--resyncs))
  (setq statewire--revision nil)
  (statewire--request 'store/subscribe `(:store ,(statewire--store))
                      (lambda (result)
                        (statewire--set-state (plist-get result :revision)
                                              (plist-get result :state)))))

(defun statewire--set-state (revision state)
  "Replace the state with STATE at REVISION, and show it."
  (setq statewire--revision revision
        statewire--state state
        ;; A title without a response may have been accepted.
        statewire--kept (seq-remove #'statewire--accepted-p statewire--kept))
  (statewire--draw))

(defun statewire--notified (_connection method params)
  "Handle the notification METHOD with PARAMS."
  (pcase method
    ('store/changed
     (when (and statewire--revision (equal (plist-get params :store) (statewire--store)))
       (statewire--changed params)))
    ((or 'store/closed 'session/closed)
     (setq statewire--revision nil)
     (statewire--show-status (format "The %s is %s: press g to reopen it"
                                     (if (eq method 'store/closed) "list" "session")
                                     (plist-get params :reason))))))

(defun statewire--changed (update)
  "Apply UPDATE, the params of a `store/changed'."
  (if (not (eql (plist-get update :base) statewire--revision))
      (statewire--subscribe 'gap)
    (condition-case nil
        (statewire--set-state (plist-get update :revision)
                              (statewire-patch statewire--state (plist-get update :patch)))
      (statewire-patch-error (statewire--subscribe 'patch)))
    (unless statewire--timer
      (setq statewire--timer
            (run-with-timer statewire-verify-seconds nil
                            (statewire--in-buffer #'statewire--verify))))))

(defun statewire--handle-result (result)
  "Request the whole state if RESULT has a revision that did not arrive."
  (when (and statewire--revision (> (plist-get result :revision) statewire--revision))
    (statewire--subscribe 'gap)))

(defun statewire--verify ()
  "Compare the digest of the list with the server's.
If they differ, request the whole state."
  (setq statewire--timer nil)
  (statewire--request
   'store/state `(:store ,(statewire--store))
   (lambda (result)
     (if (and (eql (plist-get result :revision) statewire--revision)
              (/= (plist-get result :digest) (statewire-digest statewire--state)))
         (statewire--subscribe 'digest)
       (statewire--handle-result result)))))

;;; The list

(defun statewire--todos ()
  "Return the todos, a list."
  (append (plist-get statewire--state :todos) nil))

(defun statewire--draw ()
  "Show the state.  In each window point stays at its todo, or on its line."
  (let* ((todos (statewire--todos))
         (places (mapcar (lambda (window)
                           (let ((at (if window (window-point window) (point))))
                             (list window (get-text-property at 'statewire-id)
                                   (line-number-at-pos at))))
                         (cons nil (get-buffer-window-list nil nil t)))))
    (setq statewire--status
          (if todos
              (format "%d of %d open" (seq-count #'statewire--open-p todos) (length todos))
            "Tasks"))
    (with-silent-modifications
      (erase-buffer)
      (pcase (plist-get statewire--state :type)
        ("loading" (insert "Loading…\n"))
        ("error" (insert (format "The list cannot be shown: %s\nPress g to try again.\n"
                                 (statewire--printable (plist-get statewire--state :message)))))
        (_ (if todos (mapc #'statewire--insert todos)
             (insert "No tasks. Press a to add one.\n")))))
    (pcase-dolist (`(,window ,id ,line) places)
      (let ((at (or (and id (text-property-any (point-min) (point-max) 'statewire-id id))
                    (progn (goto-char (point-min)) (forward-line (1- line)) (point)))))
        (if window (set-window-point window at) (goto-char at))))
    (force-mode-line-update)))

(defun statewire--open-p (todo)
  "Return non-nil if TODO is not completed."
  (not (eq (plist-get todo :completed) t)))

(defun statewire--insert (todo)
  "Insert the line of TODO."
  (let ((open (statewire--open-p todo))
        (title (statewire--printable (plist-get todo :title))))
    (insert (propertize (concat (if open "[ ] " "[x] ")
                                (propertize title 'face (if open 'default 'statewire-done))
                                "\n")
                        ;; A symbol for each todo, because text properties are compared by `eq'.
                        'statewire-id (intern (plist-get todo :id))))))

(defun statewire--send (type &rest members)
  "Send an input of TYPE with MEMBERS."
  (unless (statewire--connected-p) (user-error "Not connected: press g to reconnect"))
  (statewire--request 'store/send (apply #'statewire--input type members)
                      (lambda (result)
                        (when (statewire--removed-p (plist-get members :id))
                          (statewire--show-status "Another client has removed this task"))
                        (statewire--handle-result result))))

(defun statewire--removed-p (id)
  "Return non-nil if another client has removed the todo with ID.
The server accepts an input to it and ignores it."
  (and id (equal (plist-get statewire--state :type) "content")
       (not (member id statewire--removed))
       (not (statewire--todo id))))

(defun statewire--todo (id)
  "Return the todo with ID, or nil."
  (seq-find (lambda (todo) (equal (plist-get todo :id) id)) (statewire--todos)))

(defun statewire--at-point ()
  "Return the todo at point."
  (or (when-let ((id (get-text-property (point) 'statewire-id))) (statewire--todo (symbol-name id)))
      (user-error "No task at point")))

;;; Titles

(defun statewire--accepted-p (kept)
  "Return non-nil if the title of KEPT is in the list."
  (when-let ((todo (statewire--todo (plist-get kept :id))))
    (or (equal (plist-get kept :type) "todoAdded")
        (equal (plist-get kept :title) (plist-get todo :title)))))

(defun statewire--refused (type &optional id)
  "Return the first refused title of an input of TYPE.
With ID, only one for that todo."
  (seq-find (lambda (kept)
              (and (plist-get kept :reason) (equal (plist-get kept :type) type)
                   (or (null id) (equal (plist-get kept :id) id))))
            statewire--kept))

(defun statewire--save-title (type id title &optional reason)
  "Keep TITLE of the input of TYPE for the todo ID.
REASON is the reason of its refusal, or nil."
  (statewire--drop type id)
  (unless (string-blank-p title)
    (setq statewire--kept
          (append statewire--kept
                  (list (list :type type :id id :title title :reason reason))))))

(defun statewire--drop (type id)
  "Drop the title of the input of TYPE for the todo ID."
  (setq statewire--kept
        (seq-remove (lambda (kept)
                      (and (equal (plist-get kept :type) type) (equal (plist-get kept :id) id)))
                    statewire--kept)))

(defun statewire--new-id ()
  "Return a unique id for a todo."
  (md5 (format "%s %s %s %s" (system-name) (emacs-pid) (float-time) (random))))

(defun statewire--read (prompt refused text)
  "Read a title with PROMPT.
The initial input is the title of REFUSED, or TEXT."
  (let ((first (if refused (plist-get refused :title) text)))
    (minibuffer-with-setup-hook
        (lambda ()
          ;; Bidirectional controls are shown as characters and have no effect.
          (when (string-match-p (format "[%s]" statewire--bidi) (or first ""))
            (setq bidi-display-reordering nil
                  buffer-display-table (make-display-table))
            (mapc (lambda (range) (set-char-table-range buffer-display-table range [#xfffd]))
                  '(#x61c (#x200e . #x200f) (#x202a . #x202e) (#x2066 . #x2069)))))
      (read-string (if refused
                       (format "%s (%s): " prompt
                               (statewire--printable (plist-get refused :reason)))
                     (concat prompt ": "))
                   first))))

(defun statewire--enter (type id title)
  "Send the input of TYPE with TITLE for the todo ID.
TITLE is kept until it is accepted."
  (statewire--save-title type id title)
  (statewire--request
   'store/send (statewire--input type :id id :title title)
   (lambda (result)
     ;; A failed effect is not an error response but part of the state.
     (cond ((equal (plist-get statewire--state :type) "error")
            (statewire--save-title type id title (plist-get statewire--state :message)))
           (t (statewire--drop type id)
              (when (and (equal type "todoRenamed") (statewire--removed-p id))
                (statewire--save-title "todoAdded" (statewire--new-id) title "the task was removed")
                (statewire--show-status "The task was removed: press a to add the text"))))
     (statewire--handle-result result))
   (lambda (reason)
     (statewire--save-title type id title reason)
     (statewire--show-status (if (statewire--refused type id)
                                 (format "%s: press %s to edit the text" reason
                                         (if (equal type "todoAdded") "a" "r"))
                               reason)))))

(defun statewire-add ()
  "Add a todo at the end of the list, or several, one for each line.
The initial input is a refused title, if any; it is added once at most."
  (interactive)
  (let* ((refused (statewire--refused "todoAdded"))
         (text (statewire--read "Add" refused nil))
         (lines (seq-remove #'string-blank-p (split-string text "\n")))
         (id (if (equal text (plist-get refused :title)) (plist-get refused :id)
               (statewire--new-id))))
    (when refused (statewire--drop "todoAdded" (plist-get refused :id)))
    ;; Keeps the text if the question is cancelled.
    (statewire--save-title "todoAdded" id text "not added yet")
    (if (and (cdr lines) (y-or-n-p (format "Add %d tasks, one for each line? " (length lines))))
        (progn (statewire--drop "todoAdded" id)
               (dolist (line lines) (statewire--enter "todoAdded" (statewire--new-id) line)))
      (statewire--enter "todoAdded" id text))))

(defun statewire-rename ()
  "Rename the todo at point."
  (interactive)
  (let* ((todo (statewire--at-point))
         (id (plist-get todo :id))
         (before (plist-get todo :title))
         (title (statewire--read "Rename" (statewire--refused "todoRenamed" id) before))
         (now (plist-get (statewire--todo id) :title)))
    (statewire--drop "todoRenamed" id)
    (cond ((member title (list before now)) (message "The title is unchanged"))
          ((null now)
           (statewire--save-title "todoAdded" (statewire--new-id) title "the task was removed")
           (user-error "The task was removed: press a to add the text"))
          (t
           ;; Keeps the title if the question is cancelled.
           (statewire--save-title "todoRenamed" id title "renamed by another client")
           (when (or (equal now before)
                     (y-or-n-p (format "Another client has renamed it to %s.  Overwrite? "
                                       (statewire--printable now))))
             (statewire--enter "todoRenamed" id title))))))

(defun statewire-toggle ()
  "Complete the todo at point, or reopen it."
  (interactive)
  (let ((todo (statewire--at-point)))
    (statewire--send (if (statewire--open-p todo) "todoCompleted" "todoReopened")
                     :id (plist-get todo :id))))

(defun statewire-remove ()
  "Remove the todo at point."
  (interactive)
  (let ((id (plist-get (statewire--at-point) :id)))
    (push id statewire--removed)
    (statewire--send "todoRemoved" :id id)))

(defun statewire--move (by)
  "Move the todo at point BY places."
  (let* ((todo (statewire--at-point))
         (index (+ by (seq-position (statewire--todos) todo)))
         (others (remq todo (statewire--todos))))
    (when (<= 0 index (length others))
      (statewire--send "todoMoved" :id (plist-get todo :id)
                       :before (plist-get (nth index others) :id)))))

(defun statewire-move-up ()
  "Move the todo at point before the one above it."
  (interactive)
  (statewire--move -1))

(defun statewire-move-down ()
  "Move the todo at point after the one below it."
  (interactive)
  (statewire--move 1))

(defun statewire-refresh ()
  "Compare the list with the server's and reload it; connect if necessary.
Disconnect from a server that does not respond: the next refresh connects."
  (interactive)
  (cond ((not (statewire--connected-p)) (statewire--connect))
        (t
         (statewire--probe)
         (if (not statewire--revision)
             (statewire--begin)
           (statewire--verify)
           (statewire--send "stateRequested")))))

(defvar statewire-mode-map
  (let ((map (make-sparse-keymap)))
    (pcase-dolist (`(,key . ,command)
                   '(("a" . statewire-add) ("r" . statewire-rename)
                     ("x" . statewire-toggle) ("SPC" . statewire-toggle)
                     ("d" . statewire-remove)
                     ("M-<up>" . statewire-move-up) ("M-p" . statewire-move-up)
                     ("M-<down>" . statewire-move-down) ("M-n" . statewire-move-down)
                     ("g" . statewire-refresh) ("n" . next-line) ("p" . previous-line)))
      (define-key map (kbd key) command))
    map)
  "The keys of `statewire-mode'.")

(define-derived-mode statewire-mode special-mode "Statewire"
  "The todo list of a Statewire server.  The keys:
\\{statewire-mode-map}"
  (buffer-disable-undo)
  (hl-line-mode)
  (setq truncate-lines t
        header-line-format
        '(" " statewire--status
          (:propertize "   a add  r rename  x done  d remove  M-↑↓ move  g reload  q quit"
                       face shadow)))
  (add-hook 'kill-buffer-query-functions #'statewire--leave-p nil t)
  (add-hook 'kill-buffer-hook #'statewire--disconnect nil t))

(defun statewire--leave-p ()
  "Return non-nil if the buffer may be killed.
Ask if there are titles that are not saved."
  (or (null statewire--kept) (yes-or-no-p "Some titles are not saved.  Discard them? ")))

(defun statewire--show (name address &optional open)
  "Show the list of ADDRESS in the buffer NAME.
OPEN are the params of `store/open', or nil."
  (with-current-buffer (get-buffer-create name)
    (unless (derived-mode-p 'statewire-mode) (statewire-mode))
    (pop-to-buffer-same-window (current-buffer))
    (unless (and (statewire--connected-p) (equal address statewire--address))
      (setq statewire--address address
            statewire--open open)
      (statewire--connect))
    (current-buffer)))

;;;###autoload
(defun statewire ()
  "Start a server with `statewire-command' and show its todo list."
  (interactive)
  (statewire--show "*statewire*" nil))

;;;###autoload
(defun statewire-connect (host port &optional session)
  "Show the todo list of the server at HOST and PORT.
SESSION is the handle of a session to join; without it a session is opened."
  (interactive
   (list (read-string "Host: " "127.0.0.1")
         (read-number "Port: " 7227)
         (let ((session (read-string "Session (empty for a new one): ")))
           (unless (string-empty-p session) session))))
  (statewire--show (format "*statewire %s:%s*" host port) (list host port session)))

(provide 'statewire)

;;; statewire.el ends here
