;;; statewire-tests.el --- Tests of the Emacs client  -*- lexical-binding: t -*-
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; The vectors and the planted faults that all clients share, and the keys of the list.  The
;; environment variable STATEWIRE is the program.

;;; Code:

(require 'ert)
(require 'ert-x)
(require 'json)
(require 'statewire)
(eval-when-compile (require 'subr-x))

(defconst statewire-tests--program (getenv "STATEWIRE"))
(defconst statewire-tests--conformance
  (expand-file-name "../../conformance/"
                    (file-name-directory (or load-file-name buffer-file-name))))

;;; Support

;; Response times are not tested.
(setq jsonrpc-default-request-timeout 60)

(defmacro statewire-tests--until (condition)
  "Wait until CONDITION holds, at most a minute."
  `(with-timeout (60 (ert-fail (list "timeout" ',condition (buffer-string) statewire--status)))
     (while (not ,condition) (accept-process-output nil 0.02))))

(defun statewire-tests--shows (&rest lines)
  "Wait until the buffer shows LINES."
  (let ((text (concat (string-join lines "\n") "\n")))
    (statewire-tests--until (equal (buffer-string) text))))

(defun statewire-tests--keys (&rest keys)
  "Press KEYS in the buffer."
  (set-window-buffer nil (current-buffer))
  (execute-kbd-macro (kbd (string-join keys " "))))

(defun statewire-tests--start (&rest command)
  "Start COMMAND and wait for its port; return the process and the port."
  (let ((process (make-process :name "tests" :buffer (generate-new-buffer " *tests*") :noquery t
                               :command `("sh" "-c" "exec \"$@\" 2>&1" "sh" ,@command)
                               :connection-type 'pipe)))
    (with-current-buffer (process-buffer process)
      (statewire-tests--until
       (save-excursion (goto-char (point-min))
                       (re-search-forward "listening on [0-9.]*:\\([0-9]+\\)$" nil t)))
      (list process (string-to-number (match-string 1))))))

(defun statewire-tests--serve (&rest options)
  "Start a server with OPTIONS; return the process and its port."
  (apply #'statewire-tests--start statewire-tests--program "serve"
         (if (member "--tcp" options) options `("--tcp" "127.0.0.1:0" ,@options))))

(defmacro statewire-tests--with (bindings &rest body)
  "Run BODY with BINDINGS, as in `pcase-let*'; then end started processes."
  (declare (indent 1))
  `(unwind-protect (pcase-let* ,bindings ,@body)
     (dolist (buffer (buffer-list))
       (when (eq (buffer-local-value 'major-mode buffer) 'statewire-mode)
         (with-current-buffer buffer (setq statewire--kept nil))
         (kill-buffer buffer)))
     (dolist (process (process-list))
       (when (string-prefix-p "tests" (process-name process)) (delete-process process)))))

(defun statewire-tests--own-server ()
  "Show the list of a spawned server in the current buffer."
  (let ((statewire-command (list statewire-tests--program "serve" "--test")))
    (statewire))
  (set-buffer "*statewire*")
  (statewire-tests--shows "No tasks. Press a to add one."))

(defun statewire-tests--read (name)
  "Read the vectors in the file NAME with the JSON reader of jsonrpc.el."
  (with-temp-buffer
    (insert-file-contents (concat statewire-tests--conformance name))
    (json-parse-buffer :object-type 'plist :null-object :null :false-object :json-false)))

;;; Vectors

(ert-deftest statewire-patches ()
  "Each patch gives the expected value and does not modify the original."
  (seq-doseq (vector (statewire-tests--read "patches.json"))
    (ert-info ((format "%S" vector))
      (let* ((value (plist-get vector :doc))
             (before (statewire-canonical value))
             (after (condition-case nil
                        (statewire-canonical (statewire-patch value (plist-get vector :patch)))
                      (statewire-patch-error 'fails))))
        (should (equal (statewire-canonical value) before))
        (should (equal after (if (plist-member vector :error) 'fails
                               (statewire-canonical (plist-get vector :expected)))))))))

(ert-deftest statewire-digests ()
  "Each canonical form and digest is as expected.
Values are read by json.el, since Emacs' faster reader refuses NUL and the largest integers, and
into tables, in which the last of several members with one key counts."
  (seq-doseq (vector (statewire-tests--read "canonical.json"))
    (ert-info ((format "%S" vector))
      (let* ((json-object-type 'hash-table)
             (json-null :null)
             (value (statewire-tests--plists (json-read-from-string (plist-get vector :text)))))
        (should (equal (statewire-canonical value) (plist-get vector :canonical)))
        (should (= (statewire-digest value) (plist-get vector :digest)))))))

(defun statewire-tests--plists (value)
  "Return VALUE with plists in place of hash tables."
  (cond ((hash-table-p value)
         (let (plist)
           (maphash (lambda (key inner)
                      (setq plist (cl-list* (statewire--key key) (statewire-tests--plists inner)
                                            plist)))
                    value)
           plist))
        ((vectorp value) (vconcat (mapcar #'statewire-tests--plists value)))
        (t value)))

;;; The list

(ert-deftest statewire-keys ()
  "The keys run the commands that the header line lists."
  (statewire-tests--with ()
    (statewire-tests--own-server)
    (statewire-tests--keys "a Milk RET")
    (statewire-tests--shows "[ ] Milk")
    (statewire-tests--keys "a Bread RET" "a Z ü r i c h RET")
    (statewire-tests--shows "[ ] Milk" "[ ] Bread" "[ ] Zürich")
    (should (equal statewire--status "3 of 3 open"))
    (statewire-tests--keys "n x")
    (statewire-tests--shows "[ ] Milk" "[x] Bread" "[ ] Zürich")
    (should (eq (get-text-property (+ (point) 4) 'face) 'statewire-done))
    (should (equal statewire--status "2 of 3 open"))
    (statewire-tests--keys "SPC")
    (statewire-tests--shows "[ ] Milk" "[ ] Bread" "[ ] Zürich")
    (statewire-tests--keys "r C-a R y e SPC RET")
    (statewire-tests--shows "[ ] Milk" "[ ] Rye Bread" "[ ] Zürich")
    (statewire-tests--keys "M-<up>")
    (statewire-tests--shows "[ ] Rye Bread" "[ ] Milk" "[ ] Zürich")
    (should (= (line-number-at-pos) 1))
    (statewire-tests--keys "M-<up>" "M-<down>")
    (statewire-tests--shows "[ ] Milk" "[ ] Rye Bread" "[ ] Zürich")
    (statewire-tests--keys "M-n")
    (statewire-tests--shows "[ ] Milk" "[ ] Zürich" "[ ] Rye Bread")
    (statewire-tests--keys "p d")
    (statewire-tests--shows "[ ] Milk" "[ ] Rye Bread")
    (should (= (line-number-at-pos) 2))
    (should-not statewire--resyncs)
    (should-not (buffer-modified-p))))

(ert-deftest statewire-refusals ()
  "Refusals and errors of the store are shown."
  (statewire-tests--with ()
    (statewire-tests--own-server)
    (statewire-tests--keys "a Milk RET")
    (statewire-tests--shows "[ ] Milk")
    (ert-with-message-capture messages
      (statewire-tests--keys "a SPC RET")
      (statewire-tests--until (string-search "a title must not be empty" messages)))
    (should (equal statewire--status "1 of 1 open"))
    (jsonrpc-request statewire--connection 'test/injectFault
                     '(:store "todo" :operation "getTodos" :fault (:type "fail")))
    (statewire-tests--keys "g")
    (statewire-tests--until
     (string-match-p "\\`The list cannot be shown: .*\nPress g" (buffer-string)))
    (statewire-tests--keys "g")
    (statewire-tests--shows "[ ] Milk")))

(ert-deftest statewire-printable ()
  "Control characters and bidirectional controls are replaced, other characters are not."
  (should (equal (statewire--printable "\0\t\n\e]\u007f\u0080\u009f\u061c\u200e\u2028\u202e\u2066\u2069")
                 "␀␉␊␛]␡��������"))
  (should (equal (statewire--printable "Käse 🧀 %s \\& \u00a0\u200d\u2030")
                 "Käse 🧀 %s \\& \u00a0\u200d\u2030"))
  (statewire-tests--with ()
    (statewire-tests--own-server)
    (statewire--send "todoAdded" :title "a\e[2J\u009b\nb\u202ec")
    (statewire-tests--shows "[ ] a␛[2J�␊b�c")
    (ert-with-message-capture messages
      (statewire--show-status "a\e[2J\u202e %d")
      (should (string-search "Statewire: a␛[2J� %d" messages)))
    (statewire--subscribe)
    (statewire--show-status "\e\n")
    (should (equal statewire--status "␛␊"))))

(defun statewire-tests--titles ()
  "Return the titles at the server."
  (mapcar (lambda (todo) (plist-get todo :title)) (statewire--todos)))

(defun statewire-tests--do (type &rest members)
  "Send an input of TYPE with MEMBERS and wait for its effect."
  (jsonrpc-request statewire--connection 'store/send (apply #'statewire--input type members)))

(ert-deftest statewire-rename-unchanged ()
  "A title is sent only if it was changed, and unmodified."
  (statewire-tests--with ()
    (statewire-tests--own-server)
    (statewire-tests--do "todoAdded" :title "  Milk\nBread ")
    (let ((revision statewire--revision))
      (statewire-tests--keys "r RET")
      (jsonrpc-request statewire--connection 'ping nil)
      (should (equal (statewire-tests--titles) '("  Milk\nBread ")))
      (should (= statewire--revision revision)))
    (statewire-tests--keys "r M-> ! RET")
    (statewire-tests--until (equal (statewire-tests--titles) '("  Milk\nBread !")))))

(defmacro statewire-tests--meanwhile (input &rest body)
  "Run BODY, and do INPUT, the arguments of `statewire-tests--do', while a title is being read."
  (declare (indent 1))
  `(let ((list (current-buffer)))
     (cl-letf* ((read (symbol-function 'read-string))
                ((symbol-function 'read-string)
                 (lambda (&rest arguments)
                   (with-current-buffer list (statewire-tests--do ,@input))
                   (apply read arguments))))
       ,@body)))

(ert-deftest statewire-rename-by-two ()
  "A rename by another client is overwritten only after a question; no text is lost."
  (statewire-tests--with ()
    (statewire-tests--own-server)
    (statewire-tests--do "todoAdded" :title "Milk" :id "1")
    (statewire-tests--meanwhile ("todoRenamed" :id "1" :title "Tea")
      (statewire-tests--keys "r ! RET n"))
    (jsonrpc-request statewire--connection 'ping nil)
    (should (equal (statewire-tests--titles) '("Tea")))
    (statewire-tests--meanwhile ("todoRenamed" :id "1" :title "Rice")
      (statewire-tests--keys "r ! RET y"))
    (statewire-tests--until (equal (statewire-tests--titles) '("Milk!!")))
    (should-not statewire--kept)
    (statewire-tests--meanwhile ("todoRenamed" :id "1" :title "Rice")
      (statewire-tests--keys "r RET"))
    (jsonrpc-request statewire--connection 'ping nil)
    (should (equal (statewire-tests--titles) '("Rice")))
    (statewire-tests--meanwhile ("todoRemoved" :id "1")
      (should-error (statewire-tests--keys "r ! RET") :type 'user-error))
    (statewire-tests--keys "a RET")
    (statewire-tests--until (equal (statewire-tests--titles) '("Rice!")))))

(ert-deftest statewire-removed-meanwhile ()
  "An action on a removed todo is reported, and its title is kept."
  (statewire-tests--with ()
    (statewire-tests--own-server)
    (dolist (id '("1" "2" "3")) (statewire-tests--do "todoAdded" :title "Milk" :id id))
    (cl-letf* ((shown nil)
               ((symbol-function 'statewire--show-status) (lambda (text) (push text shown)))
               (remove (lambda (id)
                         ;; No output is read before the next input is sent.
                         (jsonrpc-async-request statewire--connection 'store/send
                                                (statewire--input "todoRemoved" :id id)))))
      (goto-char (point-min))
      (funcall remove "1")
      (statewire--enter "todoRenamed" "1" "Oat milk")
      (statewire-tests--until shown)
      (should (equal shown '("The task was removed: press a to add the text")))
      (should (equal (plist-get (statewire--refused "todoAdded") :title) "Oat milk"))
      (funcall remove "2")
      (setq shown nil)
      (statewire--send "todoCompleted" :id "2")
      (statewire-tests--until shown)
      (should (equal shown '("Another client has removed this task")))
      (ert-info ("A removal by this client is not reported.")
        (setq shown nil)
        (statewire-tests--until (equal (length (statewire--todos)) 1))
        (goto-char (point-min))
        (statewire-toggle)
        (statewire-remove)
        (statewire-toggle)
        (statewire-tests--until (null (statewire--todos)))
        (jsonrpc-request statewire--connection 'ping nil)
        (should-not shown)))))

(ert-deftest statewire-lines ()
  "Several lines become several todos or one, after a question."
  (statewire-tests--with ()
    (statewire-tests--own-server)
    (kill-new "Milk\nBread\n\n Tea\n")
    (statewire-tests--keys "a C-y RET y")
    (statewire-tests--until (equal (statewire-tests--titles) '("Milk" "Bread" " Tea")))
    (statewire-tests--keys "a C-y RET n")
    (statewire-tests--until (member "Milk\nBread\n\n Tea\n" (statewire-tests--titles)))
    (condition-case nil (statewire-tests--keys "a C-y RET C-g") (quit nil))
    (jsonrpc-request statewire--connection 'ping nil)
    (should (= (length (statewire--todos)) 4))
    (statewire-tests--keys "a RET y")
    (statewire-tests--until (= (length (statewire--todos)) 7))
    (should-not statewire--kept)))

(ert-deftest statewire-refused-text ()
  "A refused title is offered again and added once."
  (statewire-tests--with ()
    (statewire-tests--own-server)
    (let ((long (make-string 4097 ?a)))
      (kill-new long)
      (statewire-tests--keys "a C-y RET")
      (statewire-tests--until (statewire--refused "todoAdded"))
      (ert-info ("The text is edited, and accepted.")
        (statewire-tests--keys "a DEL RET")
        (statewire-tests--until (equal (statewire-tests--titles) (list (substring long 1))))
        (statewire-tests--until (null statewire--kept)))
      (ert-info ("So is that of a rename.")
        (statewire-tests--keys "r b b RET")
        (statewire-tests--until (statewire--refused "todoRenamed"))
        (statewire-tests--keys "r DEL DEL DEL c RET")
        (statewire-tests--until (equal (statewire-tests--titles)
                                       (list (concat (substring long 2) "c"))))
        (statewire-tests--until (null statewire--kept))))
    (ert-info ("A frame that is too long is not sent.")
      (kill-new (make-string 1100000 ?a))
      (statewire-tests--keys "a C-y RET")
      (should (equal (plist-get (statewire--refused "todoAdded") :reason)
                     "the message exceeds the limit of 1048576 bytes"))
      (statewire-tests--keys "a C-a C-k T e a RET")
      (statewire-tests--until (equal (cadr (statewire-tests--titles)) "Tea")))
    (ert-info ("So is what is not Unicode.")
      (kill-new (string-to-multibyte (unibyte-string ?a #xff)))
      (statewire-tests--keys "a C-y RET")
      (should (statewire--refused "todoAdded"))
      (statewire-tests--keys "a C-a C-k RET")
      (statewire-tests--until (null statewire--kept)))
    (ert-info ("What was carried out though the list could not be shown is not added twice.")
      (jsonrpc-request statewire--connection 'test/injectFault
                       '(:store "todo" :operation "addTodo" :fault (:type "fail")))
      (statewire-tests--keys "a M i l k RET")
      (statewire-tests--until (statewire--refused "todoAdded"))
      (let ((id (plist-get (statewire--refused "todoAdded") :id)))
        (statewire-tests--do "todoAdded" :id id :title "Milk")
        (statewire-tests--keys "a RET" "g")
        (statewire-tests--until (equal (cddr (statewire-tests--titles)) '("Milk")))
        (should-not statewire--kept)))
    (ert-info ("What is typed without a connection is kept.")
      (jsonrpc-shutdown statewire--connection t)
      (statewire-tests--keys "a R y e RET")
      (should (equal (plist-get (statewire--refused "todoAdded") :reason) "not connected"))
      (cl-letf (((symbol-function 'yes-or-no-p) #'ignore))
        (should-not (kill-buffer))))))

(ert-deftest statewire-point ()
  "Point stays at its todo in each window while others are added and removed."
  (statewire-tests--with ()
    (statewire-tests--own-server)
    (statewire-tests--keys "a Milk RET" "a Bread RET" "a Tea RET")
    (statewire-tests--shows "[ ] Milk" "[ ] Bread" "[ ] Tea")
    (statewire-tests--keys "n n")
    (let ((other (split-window)))
      (set-window-point other (point-min))
      (statewire--send "todoMoved" :id (plist-get (car (statewire--todos)) :id) :before nil)
      (statewire-tests--shows "[ ] Bread" "[ ] Tea" "[ ] Milk")
      (should (= (line-number-at-pos (window-point)) 2))
      (should (= (line-number-at-pos (window-point other)) 3))
      (delete-window other))))

(ert-deftest statewire-shared-session ()
  "Changes of another client of the session are shown."
  (statewire-tests--with ((`(,_ ,port) (statewire-tests--serve "--test"))
                          (one (statewire-connect "127.0.0.1" port))
                          (handle (plist-get (jsonrpc-request (buffer-local-value
                                                               'statewire--connection one)
                                                              'session/open nil)
                                             :session)))
    (with-current-buffer one
      (rename-buffer "one")
      (statewire-tests--keys "a Milk RET")
      (statewire-tests--shows "[ ] Milk"))
    (with-current-buffer (statewire-connect "127.0.0.1" port handle)
      (statewire-tests--shows "[ ] Milk")
      (statewire-tests--keys "x")
      (statewire-tests--shows "[x] Milk"))
    (with-current-buffer one
      (statewire-tests--shows "[x] Milk")
      (statewire-tests--keys "a Tea RET"))
    (with-current-buffer (format "*statewire 127.0.0.1:%d*" port)
      (statewire-tests--shows "[x] Milk" "[ ] Tea"))
    (with-current-buffer (statewire-connect "127.0.0.1" port "no such handle")
      (statewire-tests--until (equal statewire--status "there is no such session")))))

(ert-deftest statewire-killed-server ()
  "A killed server is noticed, and `g' reconnects."
  (let ((folder (make-temp-file "statewire-" t)))
    (statewire-tests--with ((`(,server ,port) (statewire-tests--serve "--data-dir" folder)))
      (with-current-buffer (statewire-connect "127.0.0.1" port)
        (statewire-tests--keys "a Milk RET")
        (statewire-tests--shows "[ ] Milk")
        (ert-with-message-capture messages
          (delete-process server)
          (statewire-tests--until (string-search "press g to reconnect" statewire--status))
          (should (string-search "Connection lost" messages)))
        (statewire-tests--shows "[ ] Milk")
        (should-error (statewire-toggle) :type 'user-error)
        (should-error (statewire-refresh) :type 'user-error)
        (statewire-tests--serve "--data-dir" folder "--tcp" (format "127.0.0.1:%d" port))
        (statewire-tests--keys "g")
        (statewire-tests--until (equal statewire--status "1 of 1 open"))
        (statewire-tests--keys "x")
        (statewire-tests--shows "[x] Milk")))
    (delete-directory folder t)))

(ert-deftest statewire-silent-connection ()
  "A connection without responses is closed after `g', and the next `g' reconnects."
  (statewire-tests--with ((`(,_ ,server) (statewire-tests--serve "--test"))
                          (`(,proxy ,port) (statewire-tests--start
                                            (concat statewire-tests--conformance "slow-proxy")
                                            (format "127.0.0.1:%d" server) "--paused"
                                            "--delay" "0" "--jitter" "0")))
    (with-current-buffer (statewire-connect "127.0.0.1" port)
      (statewire-tests--keys "a Milk RET")
      (statewire-tests--shows "[ ] Milk")
      (process-send-string proxy "vanish\n")
      (with-current-buffer (process-buffer proxy)
        (statewire-tests--until (string-search "\"vanish\"" (buffer-string))))
      (let ((jsonrpc-default-request-timeout 0.1))
        (statewire-tests--keys "g"))
      (statewire-tests--until (string-search "press g to reconnect" statewire--status))
      (should-not (statewire--connected-p))
      (statewire-tests--shows "[ ] Milk")
      (statewire-tests--keys "g")
      (statewire-tests--until statewire--revision)
      (statewire-tests--keys "a Tea RET")
      (statewire-tests--until (string-search "[ ] Tea" (buffer-string))))))

;;; Planted faults

(ert-deftest statewire-faults ()
  "A missing or wrong update is noticed and repaired."
  (let* ((data (statewire-tests--read "faults.json"))
         (scenarios
          ;; An input without a response is not sent again after a lost connection.
          (seq-remove (lambda (scenario)
                        (seq-some (lambda (planted)
                                    (member (plist-get planted :fault) '("cut" "half")))
                                  (plist-get scenario :plant)))
                      (plist-get data :scenarios))))
    (should (> (length scenarios) 5))
    (seq-doseq (scenario scenarios)
      (ert-info ((plist-get scenario :name))
        (statewire-tests--with
            ((`(,_ ,server) (apply #'statewire-tests--serve (append (plist-get data :server) nil)))
             (`(,proxy ,port) (statewire-tests--start
                               (concat statewire-tests--conformance "fault-proxy")
                               (format "127.0.0.1:%d" server)
                               "--scenario" (plist-get scenario :name))))
          (with-current-buffer (statewire--show "faults" (list "127.0.0.1" port)
                                                (list :store (plist-get data :store)
                                                      :kind (plist-get data :kind)
                                                      :config (plist-get data :config)))
            ;; The client has sent the first input, `stateRequested', by itself.
            (seq-doseq (input (seq-drop (plist-get data :inputs) 1))
              (statewire-tests--send (plist-get data :store) input))
            (statewire--verify)
            (statewire-tests--until
             (and (equal statewire--revision (plist-get data :revision))
                  (= (statewire-digest statewire--state) (plist-get data :digest))))
            (should (equal (statewire-canonical statewire--state)
                           (statewire-canonical (plist-get data :state))))
            (should (string-suffix-p "[ ] Rice\n[ ] Last\n" (buffer-string)))
            (should (equal (sort (seq-uniq (mapcar #'symbol-name statewire--resyncs)) #'string<)
                           (append (plist-get scenario :noticed) nil))))
          (should (= (with-current-buffer (process-buffer proxy)
                       (count-matches "^{" (point-min) (point-max)))
                     (length (plist-get scenario :plant)))))))))

(defun statewire-tests--send (store input)
  "Send INPUT to STORE and wait for the result."
  (let ((input (mapcar (lambda (value) (unless (eq value :null) value)) input))
        (is-done nil))
    (statewire--request 'store/send (list :store store :input input)
                        (lambda (result)
                          (statewire--handle-result result)
                          (setq is-done t)))
    (statewire-tests--until is-done)))

(provide 'statewire-tests)

;;; statewire-tests.el ends here
